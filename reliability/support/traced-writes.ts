// Which names a program gives to the kernel to be made, changed or removed.

import { readFile } from 'node:fs/promises'
import {
  type Ended,
  pathOfProgram,
  runProgram,
  type Variables,
} from '../../test/support/processes.ts'
import { pathOfTool } from '../../test/support/tools.ts'

const TRACED =
  'trace=openat,open,creat,mkdir,mkdirat,rename,renameat,renameat2,link,linkat,symlink,symlinkat,' +
  'unlink,unlinkat,rmdir,chmod,fchmodat,chown,lchown,fchownat,truncate,mknod,mknodat,bind'
const OPENED_TO_READ = /^open(at)?\((?!.*(O_WRONLY|O_RDWR|O_CREAT|O_TRUNC))/
/** Longer ones are cut, and then still begin where they are. */
const TEXT_MAX = 4096
/** Five hundred installations, each call of which strace looks at, take half a minute on a good day. */
const TIMEOUT_MS = 180_000

/** Runs svc-agent; answers every path that it changed or tried to, each once. */
export async function runAgentTraced(
  args: readonly string[],
  environment: Variables,
  logPath: string,
): Promise<{ readonly ended: Ended; readonly paths: readonly string[] }> {
  const options = [
    '-f',
    '-qq',
    '--seccomp-bpf',
    '-s',
    String(TEXT_MAX),
    '-o',
    logPath,
    '-e',
    TRACED,
  ]
  const traced = [...options, pathOfProgram('svc-agent'), ...args]
  // Node's own cache of what is compiled, where tests have one, is no place that an agent was told.
  const untouched = { ...environment, NODE_DISABLE_COMPILE_CACHE: '1' }
  const ended = await runProgram(pathOfTool('strace'), traced, untouched, TIMEOUT_MS)
  return { ended, paths: changedPaths(await readFile(logPath, 'utf8')) }
}

/** What a link leads to counts too, unless it stays beside it. */
function changedPaths(log: string): string[] {
  const paths = new Set<string>()
  for (const line of log.split('\n')) {
    const call = line.replace(/^\d+ +/, '')
    if (OPENED_TO_READ.test(call) || !/^[a-z]+[a-z0-9]*\(/.test(call)) continue
    for (const [, text] of call.matchAll(/"((?:[^"\\]|\\.)*)"/g)) {
      if (text !== undefined) paths.add(text)
    }
  }
  return [...paths]
}
