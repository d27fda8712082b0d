// The openai SDK for Node: Chat Completions and Responses, streamed and not.
import OpenAI from 'openai';
import { SYSTEM, TASK, TURNS, asked, finish, functions, run } from './emails.mjs';

const client = new OpenAI();
const streamed = asked.has('streamed');

const chat = async () => {
  const messages = [
    { role: 'system', content: SYSTEM },
    { role: 'user', content: TASK },
  ];
  for (let turn = 0; turn < TURNS; turn++) {
    const request = { model: 'gpt-5', messages, tools: functions() };
    const answer = streamed
      ? await client.chat.completions.stream(request).finalChatCompletion()
      : await client.chat.completions.create(request);
    const { content, tool_calls } = answer.choices[0].message;
    if (!tool_calls?.length) return content;
    messages.push({ role: 'assistant', content, tool_calls });
    for (const call of tool_calls) {
      const result = run(call.function.name, JSON.parse(call.function.arguments));
      messages.push({ role: 'tool', tool_call_id: call.id, content: result });
    }
  }
};

const responses = async () => {
  const tools = functions().map((tool) => ({ type: 'function', strict: false, ...tool.function }));
  let request = { model: 'gpt-5', instructions: SYSTEM, input: TASK, tools };
  for (let turn = 0; turn < TURNS; turn++) {
    const answer = streamed
      ? await client.responses.stream(request).finalResponse()
      : await client.responses.create(request);
    const calls = answer.output.filter((item) => item.type === 'function_call');
    if (!calls.length) return answer.output_text;
    const outputs = calls.map((call) => ({
      type: 'function_call_output',
      call_id: call.call_id,
      output: run(call.name, JSON.parse(call.arguments)),
    }));
    request = { ...request, input: outputs, previous_response_id: answer.id };
  }
};

finish(await (asked.has('responses') ? responses() : chat()));
