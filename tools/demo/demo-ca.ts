import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { configureStepCa } from '../../test/support/step-ca.ts'
import { type Variables, waitUntil } from '../../test/support/processes.ts'
import { type Daemon, runCommand, startDaemon } from './processes.ts'

export interface DemoCa {
  /** The four SVC_CA_* settings of a hub. */
  readonly variables: Variables
}

/** Starts the CA and adds it to what is to be stopped. */
export async function startDemoCa(
  kind: 'svc-ca' | 'step-ca',
  directory: string,
  daemons: Daemon[],
): Promise<DemoCa> {
  return kind === 'svc-ca' ? startEmbeddedCa(directory, daemons) : startRealCa(directory, daemons)
}

async function startEmbeddedCa(directory: string, daemons: Daemon[]): Promise<DemoCa> {
  const home = join(directory, 'ca')
  const settings = JSON.parse(
    await runCommand('svc-ca', ['init', '--dir', home, '--listen', '127.0.0.1:0', '--json'], {}),
  ) as Variables
  const daemon = startDaemon('svc-ca', ['serve', '--dir', home], {}, join(directory, 'svc-ca.log'))
  daemons.push(daemon)
  const url = await waitUntil(
    'svc-ca to listen',
    () => /^listening (https:\S+)$/m.exec(readFileSync(daemon.logPath, 'utf8'))?.[1],
  )
  return { variables: { ...settings, SVC_CA_URL: url } }
}

async function startRealCa(directory: string, daemons: Daemon[]): Promise<DemoCa> {
  const ca = await configureStepCa(join(directory, 'ca'))
  daemons.push(startDaemon(ca.program, ca.args, {}, join(directory, 'step-ca.log')))
  await waitUntil('step-ca to be healthy', () =>
    ca.isHealthy().then((healthy) => healthy || undefined),
  )
  return { variables: ca.environment }
}
