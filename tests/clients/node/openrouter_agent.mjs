// @openrouter/sdk: chat, streamed and not.
import { OpenRouter } from '@openrouter/sdk';
import { SYSTEM, TASK, TURNS, asked, finish, functions, run } from './emails.mjs';

const client = new OpenRouter({ apiKey: process.env.OPENROUTER_API_KEY });
const messages = [
  { role: 'system', content: SYSTEM },
  { role: 'user', content: TASK },
];

const ask = async () => {
  const request = { model: 'openai/gpt-5', messages, tools: functions(), stream: asked.has('streamed') };
  const answer = await client.chat.send({ chatRequest: request });
  if (!request.stream) return answer.choices[0].message;
  const message = { role: 'assistant', content: '', toolCalls: [] };
  for await (const chunk of answer) {
    for (const { delta } of chunk.choices) {
      message.content += delta.content ?? '';
      for (const part of delta.toolCalls ?? []) {
        message.toolCalls[part.index] ??= { id: part.id, type: 'function', function: { name: '', arguments: '' } };
        message.toolCalls[part.index].function.name += part.function?.name ?? '';
        message.toolCalls[part.index].function.arguments += part.function?.arguments ?? '';
      }
    }
  }
  return message;
};

const loop = async () => {
  for (let turn = 0; turn < TURNS; turn++) {
    const message = await ask();
    if (!message.toolCalls?.length) return message.content;
    messages.push({ role: 'assistant', content: message.content, toolCalls: message.toolCalls });
    for (const call of message.toolCalls) {
      const result = run(call.function.name, JSON.parse(call.function.arguments));
      messages.push({ role: 'tool', toolCallId: call.id, content: result });
    }
  }
};

finish(await loop());
