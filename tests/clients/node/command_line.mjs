// A command-line agent from this folder's packages, with the tools as an MCP server.
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { finish, note } from './emails.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const done = join(process.env.HOME, 'emails-done');
export const server = {
  command: process.execPath,
  args: [join(here, 'emails_mcp.mjs')],
  env: { EMAILS_DONE: done },
};

// Write a file below HOME, which is where the agent runs.
export const write = (name, text) => {
  const path = join(process.env.HOME, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, typeof text === 'string' ? text : JSON.stringify(text));
  return path;
};

// Run the agent to its end; its last output must be the end of the story.
export const live = async (program, args, env = {}) => {
  const child = spawn(join(here, 'node_modules', '.bin', program), args, {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, ...env },
  });
  let text = '';
  child.stdout.on('data', (piece) => (text += piece));
  const code = await new Promise((ended) => child.on('close', ended));
  if (existsSync(done)) readFileSync(done, 'utf8').trim().split('\n').forEach(note);
  finish(text);
  if (code !== 0) {
    console.error(`${program} ended with exit code ${code}`);
    process.exitCode = 1;
  }
};
