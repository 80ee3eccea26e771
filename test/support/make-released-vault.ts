// Makes the vault of a release, which every later version has to open. Run once for each, at the release's commit:
//
//   node_modules/.bin/node test/support/make-released-vault.ts 0.1.0

import { createHash } from 'node:crypto'
import { cp, mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createDelivery, findDelivery } from './deliveries.ts'
import { startDevCaProcess } from './dev-ca-process.ts'
import type { TestHub } from './hub.ts'
import { startHubProcess } from './hub-process.ts'
import { enrolHost } from './managed-host.ts'
import { type Ended, runProgram, waitUntil } from './processes.ts'
import type {
  PushedThen,
  ReleasedVault,
  SealedThen,
  StandingThen,
  WebhookThen,
} from './released-vault.ts'

/** The hub makes itself a new certificate when it finds none. */
const KEPT = ['config.json', 'db.enc', 'audit.head']

async function makeReleasedVault(version: string): Promise<void> {
  await using ca = await startDevCaProcess()
  await using hub = await startHubProcess({
    caEnvironment: ca.environment,
    environment: { SVC_SERVER_CN: 'localhost' },
    isInitialisedBySvc: true,
  })
  const made = await liveALittle(hub, version)
  const expected = { ...(await describe(hub)), ...made }
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
async function liveALittle(
  hub: TestHub,
  version: string,
): Promise<Pick<ReleasedVault, 'sealed' | 'pushed' | 'standing'>> {
  await using web = await enrolHost(hub, 'web-1.example.org')
  await using _old = await enrolHost(hub, 'old.example.org')
  const site = await createDelivery(hub, web.hostname, 'site', ['www.example.org', '192.0.2.7'])
  web.run()
  await waitForStatus(hub, site.id, 'instalada')
  await web.agent('rotate')
  await must(hub, 'agente', 'revoke', 'old.example.org')
  await must(hub, 'carga', 'update', site.cargaId)
  await hub.createToken({ hostname: 'new.example.org' })
  return {
    ...(isFrom(version, '0.2.0') && { sealed: await sealSomething(hub, web.hostname) }),
    ...(isFrom(version, '0.3.0') && { pushed: await pushSomething(hub) }),
    ...(isFrom(version, '0.4.0') && { standing: await layDownSomething(hub) }),
  }
}

/** For a host and an escrow. */
async function sealSomething(hub: TestHub, hostname: string): Promise<SealedThen> {
  const { generateHybridIdentity, identityToRecipient } = await import('age-encryption')
  const escrowIdentity = await generateHybridIdentity()
  const fingerprint = await waitUntil('the host’s recipient', async () => {
    const { stdout } = await must(hub, 'agente', 'show', hostname, '--json')
    const shown = JSON.parse(stdout) as { recipient_fingerprint: string | null }
    return shown.recipient_fingerprint ?? undefined
  })
  const content = 'correct horse'
  const file = join(hub.directory, 'secret')
  await writeFile(file, content)
  const escrow = await identityToRecipient(escrowIdentity)
  const sealing = ['--file', file, '--escrow', escrow, '--accept-recipient', fingerprint]
  const cargo = ['--tipo', 'selado', '--nome', 'db-password', '--agente', hostname]
  const { stdout } = await must(hub, 'carga', 'create', ...cargo, ...sealing, '--json')
  const created = JSON.parse(stdout) as { carga_id: string; entregas: { id: string }[] }
  await waitForStatus(hub, created.entregas[0]?.id ?? '', 'entregue')
  return { cargaId: created.carga_id, content, fingerprint, escrowIdentity }
}

/** A file and a rotation for a host that is not there. */
async function pushSomething(hub: TestHub): Promise<PushedThen> {
  await using idle = await enrolHost(hub, 'idle.example.org')
  const content = 'back at nine\n'
  const file = join(hub.directory, 'motd')
  await writeFile(file, content)
  await must(hub, 'agente', 'push', idle.hostname, '--nome', 'motd', '--file', file)
  await must(hub, 'agente', 'rotate', idle.hostname)
  return { hostname: idle.hostname, sha256: createHash('sha256').update(content).digest('hex') }
}

/** Nothing happens that the webhook would have to tell. */
async function layDownSomething(hub: TestHub): Promise<StandingThen> {
  await must(hub, 'admin', 'token', 'create', '--name', 'deploy', '--role', 'operator')
  const bounds = ['--token-ttl-max', '2h', '--san', '*.example.org']
  await must(hub, 'politica', 'set', 'web', '--nome', 'shop', ...bounds)
  const url = 'https://alerts.example.org/cartorio'
  await must(hub, 'webhook', 'create', '--url', url, '--tipo', 'alvo_revertido')
  const list = async <T>(...noun: string[]): Promise<T> =>
    JSON.parse((await must(hub, ...noun, 'list', '--json')).stdout) as T
  const { admin_tokens } = await list<{ admin_tokens: object[] }>('admin', 'token')
  const { politicas } = await list<{ politicas: object[] }>('politica')
  const { webhooks } = await list<{ webhooks: WebhookThen[] }>('webhook')
  return {
    adminTokens: admin_tokens,
    politicas,
    webhooks: webhooks.map(({ id, url: to, tipos }) => ({ id, url: to, tipos })),
  }
}

async function waitForStatus(hub: TestHub, id: string, status: string): Promise<void> {
  await waitUntil(`the delivery to be ${status}`, async () =>
    (await findDelivery(hub, id))?.status === status ? true : undefined,
  )
}

function isFrom(version: string, since: string): boolean {
  return version.localeCompare(since, 'en', { numeric: true }) >= 0
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

async function must(hub: TestHub, ...args: string[]): Promise<Ended> {
  const known = { SVC_RECIPIENTS_FILE: join(hub.directory, 'recipients.json') }
  const ended = await runProgram('svc', args, { ...hub.environment, ...known })
  if (ended.status !== 0) throw new Error(`svc ${args.join(' ')} failed: ${ended.stderr}`)
  return ended
}

const [version] = process.argv.slice(2)
if (version === undefined) throw new Error('which version?')
await makeReleasedVault(version)
