// Vercel's AI SDK with a tool server.
import { openai } from '@ai-sdk/openai';
import { createMCPClient } from '@ai-sdk/mcp';
import { Experimental_StdioMCPTransport as StdioTransport } from '@ai-sdk/mcp/mcp-stdio';
import { generateText, stepCountIs } from 'ai';

const TASK = 'Call every tool once, in the order of the list, then say done.';
const { TOOLS_URL: url, TOOLS_COMMAND } = process.env;
const [command, ...args] = JSON.parse(TOOLS_COMMAND);
const transport = url ? { type: 'http', url } : new StdioTransport({ command, args });
// By default the SDK waits a second, then begins the older handshake, and a server that starts later refuses that.
if (!url) transport.waitsForProtocolVersionDiscovery = true;
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
