// The services that run on this host, as /proc shows them: with which configuration, and how they are told to reload.

import { readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { findPathHands } from '../../platform/path-hands.ts'
import { quoteForShell } from '../../platform/quote-for-shell.ts'
import type { ServiceKind } from './certificate-use.ts'

export interface Process {
  readonly pid: number
  readonly parent: number
  /** Of the real user. */
  readonly uid: number
  readonly gid: number
  readonly program: string
  /** Nobody but root could have put that program there: it may be run to reload the service. */
  readonly isProgramRoots: boolean
  /** Without the program. */
  readonly argv: readonly string[]
  readonly workingDirectory: string
  /** The systemd service that it is in; undefined where there is none. */
  readonly unit: string | undefined
}

export interface RunningService {
  readonly kind: ServiceKind
  readonly process: Process
  /** Program and arguments; undefined when nothing durable is known that reloads it. */
  readonly reload: readonly string[] | undefined
}

const KINDS: Readonly<Record<string, ServiceKind>> = {
  nginx: 'nginx',
  apache2: 'apache',
  httpd: 'apache',
  haproxy: 'haproxy',
  postgres: 'postgresql',
  caddy: 'caddy',
}
const PROCESSES_MAX = 100_000
/** From here on users are people. What such a user runs says nothing about this host's certificates. */
const PEOPLE_FROM = 1000

/** One for each service: its first process, not its workers. */
export function findServices(processes: readonly Process[]): RunningService[] {
  const kinds = new Map(processes.map((one) => [one.pid, kindOf(one)]))
  return processes.flatMap((process) => {
    const kind = kinds.get(process.pid)
    if (kind === undefined || kinds.get(process.parent) === kind) return []
    const isSystems = kind === 'postgresql' || kind === 'caddy' || process.uid === 0
    if (!isSystems || process.uid >= PEOPLE_FROM || !process.isProgramRoots) return []
    return [{ kind, process, reload: reloadOf(kind, process) }]
  })
}

/** The value after an option, or glued to it. */
export function optionsOf(argv: readonly string[], ...names: string[]): string[] {
  return argv.flatMap((word, index) => {
    const glued = names.find((name) => word.startsWith(`${name}=`))
    if (glued !== undefined) return [word.slice(glued.length + 1)]
    const next = argv[index + 1]
    return names.includes(word) && next !== undefined ? [next] : []
  })
}

function kindOf({ program }: Process): ServiceKind | undefined {
  return KINDS[basename(program)]
}

function reloadOf(kind: ServiceKind, process: Process): readonly string[] | undefined {
  if (process.unit !== undefined) return ['systemctl', 'reload', process.unit]
  const { argv, program } = process
  if (kind === 'nginx') {
    const kept = ['-c', '-p'].flatMap((name) =>
      optionsOf(argv, name).flatMap((value) => [name, value]),
    )
    return [program, '-s', 'reload', ...kept]
  }
  if (kind === 'apache') {
    const kept = ['-d', '-f'].flatMap((name) =>
      optionsOf(argv, name).flatMap((value) => [name, value]),
    )
    // With Debian's own files what they take from the environment comes by this script.
    return kept.length === 0 ? ['apache2ctl', 'graceful'] : [program, ...kept, '-k', 'graceful']
  }
  if (kind === 'haproxy') {
    const [pidPath] = optionsOf(argv, '-p')
    if (pidPath === undefined || !argv.some((word) => word.startsWith('-W'))) return undefined
    return signalled('USR2', resolve(process.workingDirectory, pidPath))
  }
  if (kind === 'caddy') {
    const [configPath] = optionsOf(argv, '--config', '-c')
    // It would read what that user wrote, with root's rights.
    if (configPath === undefined || process.uid !== 0) return undefined
    const path = resolve(process.workingDirectory, configPath)
    return [program, 'reload', '--force', '--config', path, '--adapter', 'caddyfile']
  }
  return reloadPostgresql(process)
}

/** With the rights of its user, who alone writes the file that says which process it is. */
function reloadPostgresql({ program, argv, uid, gid, workingDirectory }: Process) {
  const [given] = optionsOf(argv, '-D')
  const dataDir = given === undefined ? workingDirectory : resolve(workingDirectory, given)
  const asUser = ['setpriv', `--reuid=${uid}`, `--regid=${gid}`, '--clear-groups']
  return [...asUser, join(dirname(program), 'pg_ctl'), 'reload', '-D', dataDir]
}

export function signalled(signal: string, pidPath: string): string[] {
  return ['/bin/sh', '-c', `kill -${signal} "$(head -n 1 ${quoteForShell(pidPath)})"`]
}

/** All that share this host's files: what runs in a container reads others. */
export function listProcesses(proc = '/proc'): Process[] {
  const root = statSync('/')
  const hasSystemd = statSync('/run/systemd/system', { throwIfNoEntry: false }) !== undefined
  const pids = readdirSync(proc).filter((name) => /^\d+$/.test(name))
  return pids.slice(0, PROCESSES_MAX).flatMap((pid) => {
    try {
      const program = readlinkSync(join(proc, pid, 'exe')).replace(/ \(deleted\)$/, '')
      if (KINDS[basename(program)] === undefined) return []
      const seen = statSync(join(proc, pid, 'root'))
      if (seen.dev !== root.dev || seen.ino !== root.ino) return []
      const read = (name: string): string => readFileSync(join(proc, pid, name), 'utf8')
      const status = read('status')
      return [
        {
          pid: Number(pid),
          parent: numberIn(status, 'PPid'),
          uid: numberIn(status, 'Uid'),
          gid: numberIn(status, 'Gid'),
          program,
          isProgramRoots: isRootsAlone(program),
          argv: parseArguments(read('cmdline')),
          workingDirectory: readlinkSync(join(proc, pid, 'cwd')),
          unit: hasSystemd ? parseUnit(read('cgroup')) : undefined,
        },
      ]
    } catch {
      // It ended meanwhile, or is not ours to look at.
      return []
    }
  })
}

function isRootsAlone(path: string): boolean {
  const { end, hands } = findPathHands(path)
  return hands.size === 0 && end?.uid === 0 && (end.mode & 0o022) === 0
}

function numberIn(status: string, key: string): number {
  return Number(new RegExp(`^${key}:\\s*(\\d+)`, 'm').exec(status)?.[1] ?? Number.NaN)
}

/** nginx writes its title over its arguments, and the arguments into the title. */
export function parseArguments(cmdline: string): string[] {
  const title = /^nginx: master process (\S+)(.*)/s.exec(cmdline.replace(/[\0\s]+$/, ''))
  if (title !== null) return (title[2] ?? '').split(/[\s\0]+/).filter((word) => word !== '')
  return cmdline.split('\0').slice(1, -1)
}

/** Of systemd's own hierarchy, or of the one that all share: the other says nothing. */
export function parseUnit(cgroup: string): string | undefined {
  const unit = /\/system\.slice\/(?:[^/]+\.slice\/)*([\w@.\\:-]+\.service)(?:\/|$)/
  const paths = [...cgroup.matchAll(/^(?:0::|\d+:name=systemd:)(\/.*)$/gm)]
  return paths.map(([, path = '']) => unit.exec(path)?.[1]).find((found) => found !== undefined)
}
