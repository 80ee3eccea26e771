// Makes the vault of a release, which every later version has to open. Run once for each, at the release's commit:
//
//   node_modules/.bin/node test/support/make-released-vault.ts 0.1.0

import { cp, mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createDelivery, findDelivery } from './deliveries.ts'
import { startDevCa } from './dev-ca.ts'
import { startTestHub, type TestHub } from './hub.ts'
import { enrolHost } from './managed-host.ts'
import { waitUntil } from './processes.ts'
import type { ReleasedVault } from './released-vault.ts'

/** The hub makes itself a new certificate when it finds none. */
const KEPT = ['config.json', 'db.enc', 'audit.head']

async function makeReleasedVault(version: string): Promise<void> {
  await using ca = await startDevCa()
  await using hub = await startTestHub({
    caEnvironment: ca.environment,
    environment: { SVC_SERVER_CN: 'localhost' },
  })
  await liveALittle(hub)
  const expected = await describe(hub)
  await hub.stop()
  const directory = join(import.meta.dirname, '../vectors/vaults', version)
  await rm(directory, { recursive: true, force: true })
  await mkdir(directory, { recursive: true })
  for (const name of await readdir(hub.vaultRoot)) {
    if (KEPT.includes(name)) await cp(join(hub.vaultRoot, name), join(directory, name))
  }
  await writeFile(join(directory, 'expected.json'), `${JSON.stringify(expected, undefined, 2)}\n`)
  process.stdout.write(`${directory}\n`)
}

/** A row in every table: hosts, one of them revoked, tokens used and open, deliveries installed, waiting and failed. */
async function liveALittle(hub: TestHub): Promise<void> {
  await using web = await enrolHost(hub, 'web-1.example.org')
  await using _old = await enrolHost(hub, 'old.example.org')
  const site = await createDelivery(hub, web.hostname, 'site', ['www.example.org', '192.0.2.7'])
  web.run()
  await waitUntil('the delivery to be installed', async () =>
    (await findDelivery(hub, site.id))?.status === 'instalada' ? true : undefined,
  )
  await web.agent('rotate')
  await must(hub, 'agente', 'revoke', 'old.example.org')
  await must(hub, 'carga', 'update', site.cargaId)
  await hub.createToken({ hostname: 'new.example.org' })
}

async function describe(hub: TestHub): Promise<ReleasedVault> {
  const list = async (noun: string): Promise<string> =>
    (await must(hub, noun, 'list', '--json')).stdout
  const { agentes } = JSON.parse(await list('agente')) as { agentes: { hostname: string }[] }
  const { entregas } = JSON.parse(await list('entrega')) as { entregas: { id: string }[] }
  const { stdout } = await must(hub, 'evento', 'list', '--json')
  const { eventos } = JSON.parse(stdout) as { eventos: { seq: number; hash_atual: string }[] }
  const last = eventos.at(-1)
  return {
    hostnames: agentes.map(({ hostname }) => hostname),
    deliveries: entregas.length,
    events: eventos.length,
    lastHash: last?.hash_atual ?? '',
  }
}

async function must(hub: TestHub, ...args: string[]): ReturnType<TestHub['svc']> {
  const ended = await hub.svc(...args)
  if (ended.status !== 0) throw new Error(`svc ${args.join(' ')} failed: ${ended.stderr}`)
  return ended
}

const [version] = process.argv.slice(2)
if (version === undefined) throw new Error('which version?')
await makeReleasedVault(version)
