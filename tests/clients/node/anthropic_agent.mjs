// The Anthropic SDK for Node: Messages, streamed and not; and its tool runner, whose state the API holds.
import Anthropic from '@anthropic-ai/sdk';
import { SYSTEM, TASK, TOOLS, TURNS, asked, finish, run } from './emails.mjs';

const client = new Anthropic();
const tools = Object.entries(TOOLS).map(([name, { description, parameters }]) => ({
  name,
  description,
  input_schema: parameters,
}));
const messages = [{ role: 'user', content: TASK }];

const loop = async () => {
  for (let turn = 0; turn < TURNS; turn++) {
    const request = { model: 'claude-sonnet-4-5', max_tokens: 1000, system: SYSTEM, tools, messages };
    const answer = asked.has('streamed')
      ? await client.messages.stream(request).finalMessage()
      : await client.messages.create(request);
    const calls = answer.content.filter((block) => block.type === 'tool_use');
    if (!calls.length) return answer.content.map((block) => block.text).join('');
    messages.push({ role: 'assistant', content: answer.content });
    messages.push({
      role: 'user',
      content: calls.map((call) => ({
        type: 'tool_result',
        tool_use_id: call.id,
        content: run(call.name, call.input),
      })),
    });
  }
};

const runner = async () => {
  const runnable = tools.map((tool) => ({ ...tool, run: (given) => run(tool.name, given), parse: (given) => given }));
  const request = { model: 'claude-sonnet-4-5', max_tokens: 1000, system: SYSTEM, tools: runnable, messages };
  const turns = client.beta.messages.toolRunner({ ...request, stream: asked.has('streamed') });
  const answer = await turns.runUntilDone();
  return answer.content.map((block) => block.text).join('');
};

finish(await (asked.has('runner') ? runner() : loop()));
