// The set of files that a real nginx serves, before something fails and after: it has to be the same, whole and served.

import assert from 'node:assert/strict'
import { readdir, readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { runTool } from '../../support/processes.ts'
import { ownershipOf } from './accounts.ts'
import { type Nginx, startNginx } from './nginx.ts'
import { waitForServed } from './served-certificate.ts'
import type { ServiceHost, TargetEvent } from './service-host.ts'

/** Everything that has to be the same afterwards. */
export interface ServedSet {
  readonly serial: string
  /** Owner, group, mode and content, by name. */
  readonly files: Readonly<Record<string, string>>
}

/**
 * The first certificate, served by nginx. Beside an agent without rights nothing is applied but when a test asks root
 * for it.
 */
export async function serveFirst(host: ServiceHost): Promise<Nginx> {
  const nginx = await startNginx(host)
  await host.writeTarget(nginx.target)
  host.run()
  const entrega = await host.deliver()
  await host.waitForPair(entrega)
  if (host.agentUser !== 0) assert.equal((await host.apply()).status, 0)
  await host.waitForApplied(entrega)
  return nginx
}

/** As it stands, with this serial served. */
export async function readSet(host: ServiceHost, nginx: Nginx, serial: string): Promise<ServedSet> {
  const directory = dirname(nginx.keyPath)
  const files: Record<string, string> = {}
  for (const name of (await readdir(directory)).sort()) {
    const path = join(directory, name)
    files[name] = `${await ownershipOf(path)}\n${await readFile(path, 'utf8')}`
  }
  await waitForServed({ port: nginx.port, rootPath: host.rootPath }, serial)
  return { serial, files }
}

export async function assertOldSet(
  host: ServiceHost,
  nginx: Nginx,
  before: ServedSet,
): Promise<void> {
  assert.deepEqual(await readSet(host, nginx, before.serial), before)
  // And a server that is started anew would take it too.
  await runTool('nginx', ['-t', '-q', '-c', nginx.configPath])
}

/** Told by now or soon. */
export function waitForReverted(host: ServiceHost, entrega: string): Promise<TargetEvent> {
  return host.waitForEvent('alvo_revertido', ({ entrega_id: id }) => id === entrega)
}

/** Once what was wrong is mended: the same pair, and by then the failure was told exactly once. */
export async function assertAppliesAfterOneEvent(
  host: ServiceHost,
  nginx: Nginx,
  entrega: string,
): Promise<void> {
  const { status, stdout, stderr } = await host.apply({ now: true })
  assert.equal(status, 0, stdout + stderr)
  await readSet(host, nginx, await host.newestSerial())
  // Events reach the hub in their order, so none that came before this one is still on its way.
  const isAbout = ({ entrega_id: id }: TargetEvent): boolean => id === entrega
  await host.waitForEvent('alvo_aplicado', isAbout)
  assert.equal((await host.events('alvo_revertido')).filter(isAbout).length, 1)
}
