// Vercel's AI SDK with a tool server over stdio.
import { openai } from '@ai-sdk/openai';
import { createMCPClient } from '@ai-sdk/mcp';
import { Experimental_StdioMCPTransport as StdioTransport } from '@ai-sdk/mcp/mcp-stdio';
import { generateText, stepCountIs } from 'ai';

const TASK = 'Call every tool once, in the order of the list, then say done.';
const transport = new StdioTransport({ command: process.env.KINDS_PYTHON, args: [process.env.KINDS_SERVER] });
const client = await createMCPClient({ transport });
try {
  const tools = await client.tools();
  const { text } = await generateText({
    model: openai('gpt-5'),
    system: 'Use the tools.',
    prompt: TASK,
    tools,
    stopWhen: stepCountIs(30),
  });
  console.log(text);
} finally {
  await client.close();
}
