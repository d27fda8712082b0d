// Codex, headless, with the tools as an MCP server: over WebSocket (its default) or over HTTP.
import { TASK, asked } from './emails.mjs';
import { live, server, write } from './command_line.mjs';

const quoted = JSON.stringify;
const base = process.env.OPENAI_BASE_URL;
const lines = [
  'model = "gpt-5"',
  'check_for_update_on_startup = false',
  // It takes no base URL from the environment.
  base ? `openai_base_url = ${quoted(base)}` : '',
  asked.has('http') ? 'model_provider = "plain"' : '',
  '[analytics]',
  'enabled = false',
  '[mcp_servers.emails]',
  `command = ${quoted(server.command)}`,
  `args = ${quoted(server.args)}`,
  `env = { EMAILS_DONE = ${quoted(server.env.EMAILS_DONE)} }`,
  '[model_providers.plain]',
  'name = "plain"',
  `base_url = ${quoted(base ?? 'https://api.openai.com/v1')}`,
  'env_key = "OPENAI_API_KEY"',
  'wire_api = "responses"',
];
write('.codex/config.toml', lines.join('\n'));
await live('codex', ['exec', '--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox', TASK], {
  CODEX_API_KEY: process.env.OPENAI_API_KEY,
});
