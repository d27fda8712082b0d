// Claude Code, headless, with the tools as an MCP server.
import { TASK } from './emails.mjs';
import { live, server, write } from './command_line.mjs';

const config = write('mcp.json', { mcpServers: { emails: server } });
const tools = 'mcp__emails__generate_email,mcp__emails__send_email';
await live(
  'claude',
  ['-p', TASK, '--model', 'claude-sonnet-4-5', '--mcp-config', config, '--strict-mcp-config', '--allowedTools', tools],
  { DISABLE_AUTOUPDATER: '1', CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1' },
);
