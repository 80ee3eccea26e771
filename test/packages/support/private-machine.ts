// A machine of a test's own: this one's root file system with all changes kept apart in memory, in namespaces of its
// own (mounts, processes, network). Packages are installed there for real, users and all, and nothing is left of it
// when it is disposed of, or when the test dies. Only root can have one, where the kernel lets it.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ROOT } from '../../../tools/source-files.ts'
import { startProgram, waitUntil } from '../../support/processes.ts'
import { type ShellMachine, shellMachine } from '../../support/shell-machine.ts'
import { findTool, pathOfTool, TOOL_PATH } from '../../support/tools.ts'

export type PrivateMachine = ShellMachine & AsyncDisposable

// The first process: its process id in the outer namespace, and then it waits for its input to end. The checkout and
// the given directory may be on file systems of their own, which an overlay does not show.
const SET_UP = `
set -eu
base=$1
read -r pid rest </proc/self/stat
mount -t tmpfs -o mode=755 tmpfs "$base"
root=$base/root
mkdir "$base/upper" "$base/work" "$root"
mount -t overlay -o "lowerdir=/,upperdir=$base/upper,workdir=$base/work" overlay "$root"
mount --rbind /dev "$root/dev"
mount -t proc proc "$root/proc"
mount -t tmpfs -o mode=1777 tmpfs "$root/tmp"
mount -t tmpfs -o mode=755 tmpfs "$root/run"
shift
for directory; do
  mkdir -p "$root$directory"
  mount --bind "$directory" "$root$directory"
  mount -o remount,bind,ro "$root$directory"
done
ip link set lo up
echo "$pid"
exec chroot "$root" cat >/dev/null
`

/** Why there can be none here; undefined where there can be one. */
export function findMachineObstacle(): string | undefined {
  if (process.getuid?.() !== 0) return 'only root can make a machine'
  const programs = ['dpkg', 'systemd-analyze', 'systemd-sysusers', 'unshare', 'ip', 'strace']
  const missing = programs.filter((program) => findTool(program) === undefined)
  return missing.length === 0 ? undefined : `not installed: ${missing.join(', ')}`
}

/** `directories` of this machine can be read there too. */
export async function startPrivateMachine(directories: readonly string[]): Promise<PrivateMachine> {
  const base = await mkdtemp(join(tmpdir(), 'machine-'))
  const args = ['--mount', '--net', '--pid', '--fork', '--kill-child', '--propagation=private']
  const first = spawn(
    pathOfTool('unshare'),
    [...args, 'sh', '-c', SET_UP, 'sh', base, ROOT, ...directories],
    {
      env: { PATH: TOOL_PATH },
      stdio: ['pipe', 'pipe', 'pipe'],
    },
  )
  const firstPid = await readProcessId(first)
  const enter = ['--target', firstPid, '--mount', '--net', '--pid', '--root', '--wd']
  return {
    ...shellMachine((script) =>
      startProgram(pathOfTool('nsenter'), [...enter, 'sh', '-euc', script], { PATH: ADMIN_PATH }),
    ),
    [Symbol.asyncDispose]: async () => {
      first.stdin.end()
      await waitUntil('the machine to be gone', () => !existsSync(`/proc/${firstPid}`) || undefined)
      await rm(base, { recursive: true, force: true })
    },
  }
}

const ADMIN_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'

async function readProcessId(first: ChildProcess): Promise<string> {
  let printed = ''
  let complaints = ''
  first.stdout?.on('data', (chunk: Buffer) => (printed += chunk.toString()))
  first.stderr?.on('data', (chunk: Buffer) => (complaints += chunk.toString()))
  const closed = once(first, 'close')
  return waitUntil('the machine to be set up', async () => {
    if (printed.endsWith('\n')) return printed.trim()
    if (first.exitCode === null) return undefined
    await closed
    throw new Error(`the machine could not be set up: ${complaints}`)
  })
}
