// A loop on plain fetch, over Chat Completions.
import { SYSTEM, TASK, TURNS, asked, finish, functions, run } from './emails.mjs';

const url = `${process.env.OPENAI_BASE_URL || 'https://api.openai.com/v1'}/chat/completions`;
const headers = { authorization: `Bearer ${process.env.OPENAI_API_KEY}`, 'content-type': 'application/json' };
const streamed = asked.has('streamed');
const messages = [
  { role: 'system', content: SYSTEM },
  { role: 'user', content: TASK },
];

// The message that the events of a stream add up to.
const joined = (text) => {
  const message = { role: 'assistant', content: '', tool_calls: [] };
  for (const line of text.split('\n')) {
    if (!line.startsWith('data: ') || line === 'data: [DONE]') continue;
    for (const { delta } of JSON.parse(line.slice(6)).choices) {
      message.content += delta.content ?? '';
      for (const part of delta.tool_calls ?? []) {
        message.tool_calls[part.index] ??= { id: part.id, type: 'function', function: { name: '', arguments: '' } };
        message.tool_calls[part.index].function.name += part.function.name ?? '';
        message.tool_calls[part.index].function.arguments += part.function.arguments ?? '';
      }
    }
  }
  return { ...message, tool_calls: message.tool_calls.length ? message.tool_calls : undefined };
};

const loop = async () => {
  for (let turn = 0; turn < TURNS; turn++) {
    const body = JSON.stringify({ model: 'gpt-5', messages, tools: functions(), stream: streamed });
    const response = await fetch(url, { method: 'POST', headers, body });
    if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
    let message;
    if (streamed) {
      let text = '';
      for await (const piece of response.body.pipeThrough(new TextDecoderStream())) text += piece;
      message = joined(text);
    } else {
      message = (await response.json()).choices[0].message;
    }
    messages.push(message);
    if (!message.tool_calls?.length) return message.content;
    for (const call of message.tool_calls) {
      const result = run(call.function.name, JSON.parse(call.function.arguments));
      messages.push({ role: 'tool', tool_call_id: call.id, content: result });
    }
  }
};

finish(await loop());
