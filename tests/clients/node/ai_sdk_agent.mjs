// Vercel AI SDK: generateText and streamText over @ai-sdk/openai and @ai-sdk/anthropic.
import { anthropic } from '@ai-sdk/anthropic';
import { openai } from '@ai-sdk/openai';
import { generateText, stepCountIs, jsonSchema, streamText, tool } from 'ai';
import { SYSTEM, TASK, TOOLS, TURNS, asked, finish, run } from './emails.mjs';

const tools = Object.fromEntries(
  Object.entries(TOOLS).map(([name, { description, parameters }]) => [
    name,
    tool({ description, inputSchema: jsonSchema(parameters), execute: async (given) => run(name, given) }),
  ]),
);
const model = asked.has('anthropic')
  ? anthropic('claude-sonnet-4-5')
  : asked.has('chat')
    ? openai.chat('gpt-5')
    : openai('gpt-5');
const request = { model, instructions: SYSTEM, prompt: TASK, tools, stopWhen: stepCountIs(TURNS) };
if (asked.has('streamed')) {
  const result = streamText(request);
  await result.consumeStream();
  finish(await result.text);
} else {
  finish((await generateText(request)).text);
}
