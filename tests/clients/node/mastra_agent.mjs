// Mastra: an Agent on its own model router, generated and streamed.
import { Agent } from '@mastra/core/agent';
import { createTool } from '@mastra/core/tools';
import { z } from 'zod';
import { SYSTEM, TASK, TOOLS, TURNS, asked, finish, run } from './emails.mjs';

const shapes = {
  generate_email: z.object({ company: z.string(), tone: z.string() }),
  send_email: z.object({ to: z.string(), subject: z.string(), draft: z.number() }),
};
const tools = Object.fromEntries(
  Object.entries(shapes).map(([id, inputSchema]) => [
    id,
    createTool({
      id,
      description: TOOLS[id].description,
      inputSchema,
      execute: async (given) => ({ said: run(id, given.context ?? given) }),
    }),
  ]),
);
const model = asked.has('anthropic') ? 'anthropic/claude-sonnet-4-5' : 'openai/gpt-5';
const agent = new Agent({ id: 'sales', name: 'sales', instructions: SYSTEM, model, tools });
if (asked.has('streamed')) {
  finish(await (await agent.stream(TASK, { maxSteps: TURNS })).text);
} else {
  finish((await agent.generate(TASK, { maxSteps: TURNS })).text);
}
