// Starts a service as its unit says, where there is no systemd to do it: user, environment, credentials, and what of the
// sandbox a shell can set up (read-only system, own /tmp, /proc without the others, no capabilities, no new privileges).
// strace notes its system calls, to be compared with the unit's filters.

import { parseSettings } from '../../../src/platform/settings-file.ts'
import type { Ended } from '../../support/processes.ts'
import type { PrivateMachine } from './private-machine.ts'
import { readTrace, type Trace, tracing } from './trace.ts'
import { parseUnitFile, type UnitFile } from './unit-file.ts'

export interface RunningUnit {
  readonly unit: UnitFile
  log(): string
  /** Sends it SIGTERM. */
  stop(): Promise<StoppedUnit>
}

export interface StoppedUnit extends Trace {
  readonly ended: Ended
}

export async function runUnit(machine: PrivateMachine, name: string): Promise<RunningUnit> {
  const unit = parseUnitFile(await machine.output(`cat /usr/lib/systemd/system/${name}`))
  const credentials = `/run/credentials/${name}`
  const pidFile = `/run/${name}.pid`
  const trace = `/run/trace/${name}`
  const environment = await unitEnvironment(machine, unit, credentials)
  await machine.output(`mkdir -p -m 1777 /run/trace; rm -f ${pidFile} ${trace}`)
  await machine.output(placeCredentials(unit, credentials))
  const variables = Object.entries(environment).map(([key, value]) => quote(`${key}=${value}`))
  const insideSandbox = `
${sandbox(unit)}
echo $$ >${pidFile}
umask ${unit.last('UMask') ?? '0022'}
ulimit -c 0
exec env -i ${variables.join(' ')} \\
  setpriv --reuid ${unit.last('User')} --regid ${unit.last('Group')} --clear-groups \\
  --no-new-privs --bounding-set=-all --inh-caps=-all \\
  ${tracing(trace)} ${unit.last('ExecStart')}`
  const running = machine.start(
    `exec unshare --mount --propagation private sh -euc ${quote(insideSandbox)}`,
  )
  return {
    unit,
    log: running.stderr,
    stop: async () => {
      await machine.output(`kill $(cat ${pidFile})`)
      return { ended: await running.ended, ...(await readTrace(machine, trace)) }
    },
  }
}

async function unitEnvironment(
  machine: PrivateMachine,
  unit: UnitFile,
  credentials: string,
): Promise<Record<string, string>> {
  const given = unit.all('Environment').map((line) => line.replaceAll('%d', credentials))
  const environment = { PATH: '/usr/sbin:/usr/bin', ...parseSettings(given.join('\n'), 'the unit') }
  for (const setting of unit.all('EnvironmentFile')) {
    const path = setting.replace(/^-/, '')
    Object.assign(environment, parseSettings(await machine.output(`cat ${path}`), path))
  }
  return environment
}

function placeCredentials(unit: UnitFile, directory: string): string {
  const copies = unit.all('LoadCredential').map((line) => {
    const [name, path] = line.split(':')
    return `install -m 0400 -o ${unit.last('User')} ${path} ${directory}/${name}`
  })
  return [`mkdir -p ${directory}`, ...copies].join('\n')
}

function sandbox(unit: UnitFile): string {
  const state = `/var/lib/${unit.last('StateDirectory')}`
  return `
mount --bind ${state} ${state}
mount -o remount,bind,ro /
mount -t tmpfs -o mode=1777 tmpfs /tmp
mount -t proc -o hidepid=${unit.last('ProtectProc')},subset=${unit.last('ProcSubset')} proc /proc`
}

function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}
