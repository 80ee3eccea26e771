// A Debian machine with systemd as its first process, in namespaces of its own. Nothing is left of it when it is disposed of, or when
// the test dies.

import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { mkdtemp, open, readdir, rm, rmdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ROOT } from '../../../tools/source-files.ts'
import { type ShellMachine, shellMachine } from '../../support/shell-machine.ts'
import { type RunningProgram, startProgram, waitUntil } from '../../support/processes.ts'
import { pathOfTool, TOOL_PATH, withTools } from '../../support/tools.ts'
import { ensureBaseSystem } from './base-system.ts'

export interface SystemdMachine extends ShellMachine, AsyncDisposable {
  /** What a unit wrote, and what systemd wrote of it. */
  journal(unit: string): Promise<string>
  /** The process id, out here, of its first process, which is another one after a reboot. */
  readonly leader: string
  /** Its disk is as it was; what `start` started is gone, and so is a cable. */
  reboot(): Promise<void>
}

export interface SystemdMachineOptions {
  readonly hostname: string
  /** Of this machine, readable there at the same path; the checkout always is. */
  readonly directories?: readonly string[]
  /** Packages of Debian, installed before it boots for the first time. */
  readonly services?: readonly string[]
}

const BOOT = fileURLToPath(new URL('./boot-machine.sh', import.meta.url))
const CGROUPS = ['/sys/fs/cgroup/unified', '/sys/fs/cgroup']
const ADMIN_PATH = '/usr/sbin:/usr/bin:/sbin:/bin'

/** For `describe`: skips, in words, where there can be no such machine; with CI=true it fails instead. */
export function withMachines(...more: readonly string[]): { readonly skip: string | false } {
  if (process.env['CI'] === 'true') return { skip: false }
  if (process.getuid?.() !== 0) return { skip: 'only root can boot a machine' }
  return withTools('mmdebstrap', 'systemd-nspawn', 'unshare', 'nsenter', ...more)
}

export async function startSystemdMachine({
  hostname,
  directories = [],
  services = [],
}: SystemdMachineOptions): Promise<SystemdMachine> {
  const base = await ensureBaseSystem(services)
  const logDirectory = await mkdtemp(join(tmpdir(), 'machine-'))
  const logPath = join(logDirectory, 'log')
  const log = await open(logPath, 'w')
  const name = `${hostname.split('.')[0]}-${randomBytes(4).toString('hex')}`
  const namespaces = [
    '--mount',
    '--propagation=private',
    '--pid',
    '--fork',
    '--kill-child',
    '--mount-proc',
  ]
  const options = ['--private-network', `--hostname=${hostname}`]
  const binds = [ROOT, ...directories].map((directory) => `--bind-ro=${directory}`)
  const first = spawn(
    pathOfTool('unshare'),
    [...namespaces, 'bash', BOOT, name, base, ...options, ...binds],
    { env: { PATH: TOOL_PATH }, stdio: ['pipe', log.fd, log.fd] },
  )
  await log.close()
  const programs: RunningProgram[] = []
  // A machine that goes down stops everything that it has, and then kills it. What runs out here for a program in there stops with it,
  // and the machine waits until that has seen the end.
  const goOn = (): void => {
    for (const program of programs) program.kill('SIGCONT')
  }
  const dispose = async (): Promise<void> => {
    first.stdin?.end()
    await waitUntil('the machine to be gone', () => {
      goOn()
      return first.exitCode !== null || first.signalCode !== null || undefined
    })
    await removeCgroup(name)
    await rm(logDirectory, { recursive: true, force: true })
  }
  try {
    let leader = await findSystemd(first, logPath)
    const inside = shellIn(() => leader)
    const start = (script: string): RunningProgram => {
      const program = inside.start(script)
      programs.push(program)
      return program
    }
    const machine = { ...inside, start }
    // `degraded`: a unit that Debian has, and that cannot run here.
    await waitUntil('systemd to be up', async () => {
      const { stdout } = await machine.run('systemctl is-system-running || true')
      return /^(running|degraded)\n/.test(stdout) || undefined
    })
    return {
      ...machine,
      get leader() {
        return leader
      },
      journal: (unit) =>
        machine.output(`journalctl --no-pager --output=short-monotonic --unit=${unit}`),
      reboot: async () => {
        const last = leader
        start('systemctl reboot')
        await waitUntil('the machine to go down', () => {
          goOn()
          return !existsSync(`/proc/${last}`) || undefined
        })
        leader = await findSystemd(first, logPath)
        // A unit of the test may have much to do at boot.
        await waitUntil('the machine to be up again', async () => {
          const { status } = await machine.run('systemctl is-active --quiet multi-user.target')
          return status === 0 || undefined
        })
      },
      [Symbol.asyncDispose]: dispose,
    }
  } catch (error) {
    const said = readFileSync(logPath, 'utf8')
    await dispose()
    throw new Error(`the machine did not boot: ${said}`, { cause: error })
  }
}

/** The process id, out here, of the machine's first process. */
async function findSystemd(first: ChildProcess, logPath: string): Promise<string> {
  return waitUntil('the machine to boot', () => {
    if (first.exitCode !== null) throw new Error(readFileSync(logPath, 'utf8'))
    return findBelow(String(first.pid), 'systemd')
  })
}

function findBelow(pid: string, name: string): string | undefined {
  const children = readOfProcess(`/proc/${pid}/task/${pid}/children`) ?? ''
  for (const child of children.split(' ')) {
    if (child === '') continue
    const isIt = readOfProcess(`/proc/${child}/comm`) === `${name}\n`
    const found = isIt ? child : findBelow(child, name)
    if (found !== undefined) return found
  }
  return undefined
}

/** Undefined when the process has gone, also between the opening of the file and its reading. */
function readOfProcess(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}

function shellIn(leader: () => string): ShellMachine {
  const enter = ['--mount', '--uts', '--ipc', '--net', '--pid', '--cgroup', '--root', '--wd']
  const environment = ['env', '-i', `PATH=${ADMIN_PATH}`, 'HOME=/root', 'TERM=dumb', 'LANG=C.UTF-8']
  return shellMachine((script) =>
    startProgram(
      pathOfTool('nsenter'),
      ['--target', leader(), ...enter, ...environment, 'sh', '-euc', script],
      {},
    ),
  )
}

/** The kernel keeps what was made in it. */
async function removeCgroup(name: string): Promise<void> {
  for (const place of CGROUPS) {
    const directory = join(place, name)
    if (existsSync(directory)) await removeEmptied(directory)
  }
}

async function removeEmptied(directory: string): Promise<void> {
  for (const entry of await readdir(directory, { withFileTypes: true })) {
    if (entry.isDirectory()) await removeEmptied(join(directory, entry.name))
  }
  await waitUntil(`${directory} to be empty`, () =>
    rmdir(directory).then(
      () => true,
      () => undefined,
    ),
  )
}
