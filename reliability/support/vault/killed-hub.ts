// What a killed hub leaves on the disk, looked through for everything that it was told in confidence.

import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, readlink, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { unsealVault } from '../../../src/hub/vault/vault.ts'
import { invariant } from '../../../src/platform/errors.ts'
import { Secret } from '../../../src/platform/secret.ts'
import { createDelivery } from '../../../test/support/deliveries.ts'
import { enrollHost, type EnrolledHost } from '../../../test/support/enrolled-host.ts'
import { type HubProcess, startHubProcess } from '../../../test/support/hub-process.ts'
import type { Variables } from '../../../test/support/processes.ts'
import { post } from '../../../test/support/wire-client.ts'

export interface CanaryScan {
  canaries: number
  files: number
  bytes: number
  readonly broken: string[]
}

interface Canary {
  readonly name: string
  readonly bytes: Buffer
}

const SHARED_PLACES = ['/tmp', '/var/tmp', '/dev/shm']
const FILE_BYTES_MAX = 256 * 1024 * 1024
const LOAD_CLIENTS = 4
const LOAD_EVENTS = 40

/** A hub with secrets of its own is killed under load. */
export async function scanKilledHub(
  scan: CanaryScan,
  directory: string,
  caEnvironment: Variables,
): Promise<void> {
  const mark = randomBytes(9).toString('hex')
  const passphrase = `passphrase-${mark}`
  const startedAtMs = Date.now()
  const temporary = join(directory, `tmp-${mark}`)
  await mkdir(temporary)
  await using hub = await startHubProcess({
    caEnvironment,
    environment: {
      SVC_MASTER_PASSPHRASE: passphrase,
      SVC_LIMIT_EVENTS: '0',
      SVC_LIMIT_EVENT_BYTES: '0',
      TMPDIR: temporary,
      SQLITE_TMPDIR: temporary,
    },
  })
  const host = await enrollHost(hub, `host-${mark}.example`, { role: `role-${mark}` })
  await createDelivery(hub, host.hostname, `nome-${mark}`, [`san-${mark}.example`])
  const token = await hub.createToken({ hostname: `next-${mark}.example` })
  scan.broken.push(...(await loadAndKill(hub, host, mark)))
  const { dataKey } = await unsealVault(hub.vaultRoot, new Secret(passphrase))
  const texts = { host, token, passphrase, provisioner: caEnvironment['SVC_CA_PROVISIONER_KEY'] }
  const canaries = listCanaries(mark, texts, dataKey.reveal())
  scan.canaries = canaries.length
  for (const place of [hub.directory, temporary]) await scanDirectory(scan, canaries, place, 0)
  for (const place of SHARED_PLACES) await scanDirectory(scan, canaries, place, startedAtMs)
  await requireSight(canaries, hub.directory)
}

/** Whatever the hub writes to besides its vault is looked at while it still has it open. */
async function loadAndKill(hub: HubProcess, host: EnrolledHost, mark: string): Promise<string[]> {
  let acknowledged = 0
  let isOver = false
  const client = async (): Promise<void> => {
    while (!isOver) {
      const payload = { text: `payload-${mark}`, number: acknowledged }
      const event = { tipo_evento: `event_${mark}`, payload, request_id: null }
      // The last ones find a hub that is gone.
      const reply = await post(host.mtls, '/v1/events', event).catch(() => undefined)
      if (reply?.status === 200) acknowledged += 1
      if (acknowledged < LOAD_EVENTS || isOver) continue
      isOver = true
      broken.push(...(await findStrayFiles(hub)))
      await hub.stop('SIGKILL')
    }
  }
  const broken: string[] = []
  await Promise.all(Array.from({ length: LOAD_CLIENTS }, client))
  return broken
}

/** Files that it has open for writing and that are not in its vault, deleted ones too. */
async function findStrayFiles({ pid, vaultRoot }: HubProcess): Promise<string[]> {
  const stray: string[] = []
  for (const descriptor of await readdir(`/proc/${pid}/fd`)) {
    const target = await readlink(`/proc/${pid}/fd/${descriptor}`).catch(() => '')
    if (!target.startsWith('/') || target.startsWith('/dev/')) continue
    if (target.startsWith(`${vaultRoot}/`) && !target.endsWith(' (deleted)')) continue
    const info = await readFile(`/proc/${pid}/fdinfo/${descriptor}`, 'utf8').catch(() => '')
    const isForWriting = (Number.parseInt(/flags:\s+(\d+)/.exec(info)?.[1] ?? '0', 8) & 3) !== 0
    if (isForWriting) stray.push(`the hub writes to ${target}`)
  }
  return stray
}

function listCanaries(
  mark: string,
  told: { host: EnrolledHost; token: string; passphrase: string; provisioner: string | undefined },
  dataKey: Buffer,
): Canary[] {
  invariant(told.provisioner !== undefined, 'the CA has a provisioner key')
  const provisionerKey = (JSON.parse(told.provisioner) as { readonly d: string }).d
  const texts = {
    'the mark of names, roles, payloads and the passphrase': mark,
    'a token': told.token,
    'a token without its prefix': told.token.replace(/^svct_/, ''),
    'the agent’s id': told.host.agentId,
    'the agent’s certificate': told.host.certPem.split('\n').slice(1, 4).join('\n'),
    'the data key in hex': dataKey.toString('hex'),
    'the data key in base64': dataKey.toString('base64'),
    'the provisioner’s private key': provisionerKey,
  }
  const secrets = {
    'the data key': dataKey,
    'the provisioner’s private number': Buffer.from(provisionerKey, 'base64url'),
  }
  return [
    ...Object.entries(texts).map(([name, text]) => ({ name, bytes: Buffer.from(text) })),
    ...Object.entries(secrets).map(([name, bytes]) => ({ name, bytes })),
  ]
}

async function scanDirectory(
  scan: CanaryScan,
  canaries: readonly Canary[],
  directory: string,
  changedSinceMs: number,
): Promise<void> {
  if (!existsSync(directory)) return
  const entries = await readdir(directory, { withFileTypes: true }).catch(() => [])
  for (const entry of entries) {
    const path = join(directory, entry.name)
    if (entry.isDirectory()) await scanDirectory(scan, canaries, path, changedSinceMs)
    else if (entry.isFile()) await scanFile(scan, canaries, path, changedSinceMs)
  }
}

async function scanFile(
  scan: CanaryScan,
  canaries: readonly Canary[],
  path: string,
  changedSinceMs: number,
): Promise<void> {
  // In places that we share files of others come and go.
  const stats = await stat(path).catch(() => undefined)
  if (stats === undefined || stats.mtimeMs < changedSinceMs || stats.size > FILE_BYTES_MAX) return
  const content = await readFile(path).catch(() => undefined)
  if (content === undefined) return
  scan.files += 1
  scan.bytes += content.length
  for (const { name, bytes } of canaries) {
    if (content.includes(bytes)) scan.broken.push(`${name} is in ${path}`)
  }
}

/** A scan that sees nothing finds nothing. */
async function requireSight(canaries: readonly Canary[], directory: string): Promise<void> {
  const path = join(directory, 'planted')
  for (const canary of canaries) {
    await writeFile(path, Buffer.concat([randomBytes(5000), canary.bytes, randomBytes(5000)]))
    const scan: CanaryScan = { canaries: 1, files: 0, bytes: 0, broken: [] }
    await scanDirectory(scan, [canary], directory, 0)
    invariant(
      scan.broken.some((line) => line.endsWith(path)),
      `the scan finds ${canary.name}`,
    )
  }
  await rm(path)
}
