// The two other kinds of delivery: a secret that is sealed on a laptop and opened on the host, and a file that is pushed.

import { randomBytes } from 'node:crypto'
import { lstatSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { connectToHub } from '../../src/admin/doors/socket-client.ts'
import { UserError } from '../../src/platform/errors.ts'
import type { AdminReplies } from '../../src/protocol/admin/operations.ts'
import { type Variables, waitUntil } from '../../test/support/processes.ts'
import { ask, runCommand } from './processes.ts'
import { step } from './screen.ts'

export const SECRET_NAME = 'db-password'
export const PUSH_NAME = 'motd'

export interface Place {
  readonly directory: string
  readonly hostname: string
  readonly hub: Variables
  readonly agent: Variables
  readonly out: string
}

export interface LandedFile {
  readonly path: string
  /** Octal. */
  readonly mode: string
}

export async function deliverSecret(place: Place): Promise<LandedFile> {
  const { directory, hostname, hub, agent, out } = place
  const secret = randomBytes(24).toString('hex')
  // The laptop has the secret, and the fingerprints that its user has compared; the host has a key that never left it.
  const laptop = join(directory, 'laptop')
  mkdirSync(laptop, { mode: 0o700 })
  const file = join(laptop, SECRET_NAME)
  writeFileSync(file, secret, { mode: 0o600 })
  const { recipient_fingerprint: fingerprint } = JSON.parse(
    await runCommand('svc-agent', ['identity', '--json'], agent),
  ) as { recipient_fingerprint: string }
  const create = ['carga', 'create', '--type', 'selado', '--name', SECRET_NAME, '--file', file]
  create.push('--agent', hostname, '--accept-recipient', fingerprint)
  const { carga_id: cargo } = await step(
    `a secret, sealed on a laptop: svc load create --type sealed --name ${SECRET_NAME}`,
    () =>
      ask<AdminReplies['createCargo']>(
        { ...hub, SVC_RECIPIENTS_FILE: join(laptop, 'recipients.json') },
        ...create,
      ),
  )
  return step('the agent opened it; the hub has it sealed only', async () => {
    const found = await waitForFile(join(out, SECRET_NAME), secret)
    await checkSealedAtHub(place, cargo, secret)
    return found
  })
}

export async function pushFile(place: Place): Promise<LandedFile & { readonly tookMs: number }> {
  const { directory, hostname, hub, out } = place
  const text = 'Delivered by Cartorio.\n'
  const file = join(directory, 'laptop', PUSH_NAME)
  writeFileSync(file, text)
  const path = join(out, PUSH_NAME)
  return step(`a file, pushed through the stream: svc agent push --name ${PUSH_NAME}`, async () => {
    const push = ['agente', 'push', hostname, '--name', PUSH_NAME, '--file', file, '--mode', '0644']
    await runCommand('svc', push, hub)
    const landed = await waitForFile(path, text)
    // Its link was made right before the switch to it.
    const tookMs = lstatSync(path).mtimeMs - (await recordedAtMs(hub, PUSH_NAME))
    return { ...landed, tookMs: Math.max(0, Math.round(tookMs)) }
  })
}

async function waitForFile(path: string, content: string): Promise<LandedFile> {
  await waitUntil(path, () => (readIfPresent(path) === content ? true : undefined))
  return { path, mode: (statSync(path).mode & 0o777).toString(8).padStart(4, '0') }
}

function readIfPresent(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}

/** When the hub wrote down, by the clock of the same machine, that this is to be delivered. */
async function recordedAtMs(hub: Variables, name: string): Promise<number> {
  const { eventos } = await ask<AdminReplies['listEntries']>(hub, 'evento', 'list')
  const created = eventos.find(({ payload }) => payload['nome'] === name)
  if (created === undefined) throw new UserError('demo', `${name} is not in the audit log`)
  return Date.parse(created.timestamp)
}

/** Neither in what the hub hands out, nor in its vault, nor in a log. */
async function checkSealedAtHub(place: Place, carga: string, secret: string): Promise<void> {
  const vault = place.hub['SVC_VAULT_ROOT'] ?? ''
  const session = await connectToHub(join(vault, 'admin.sock'))
  if (session === undefined) throw new UserError('demo', 'the hub does not answer its socket')
  const { conteudo } = await session.operations.readContent({ carga })
  await session.close()
  const kept = Buffer.from(conteudo, 'base64')
  if (!kept.toString('latin1').startsWith('age-encryption.org/v1\n')) {
    throw new UserError('demo', 'what the hub has is no sealed file')
  }
  const places = [vault, place.directory].flatMap((directory) =>
    readdirSync(directory, { withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => readFileSync(join(directory, entry.name))),
  )
  if ([kept, ...places].some((bytes) => bytes.includes(secret))) {
    throw new UserError('demo', 'the secret is in the clear where it must not be')
  }
}
