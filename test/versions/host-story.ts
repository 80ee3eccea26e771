// What happens to one host, as the hub's log and the host's disk tell it.

import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseCertificatePem } from '../../src/pki/certificates.ts'
import { createDelivery, findDelivery } from '../support/deliveries.ts'
import type { HubProcess } from '../support/hub-process.ts'
import type { ManagedHost } from '../support/managed-host.ts'
import { runTool, waitUntil } from '../support/processes.ts'

const LONG_MS = 90_000

/** A new carga for this host, until its pair is there, its hook has run and the hub knows. Answers the carga's id. */
export async function deliver(hub: HubProcess, host: ManagedHost, nome: string): Promise<string> {
  const { id, cargaId } = await createDelivery(hub, host.hostname, nome)
  await waitUntilInstalled(hub, host, nome, id)
  return cargaId
}

/** The carga's next version, by the hub's admin socket. */
export async function deliverAnew(
  hub: HubProcess,
  host: ManagedHost,
  nome: string,
  cargaId: string,
): Promise<void> {
  const old = await serialOf(join(host.dataDir, `out/${nome}.crt`))
  const { entregas } = await hub.admin<{ entregas: { id: string }[] }>(
    'POST',
    '/v1/admin/cargas/update',
    { carga: cargaId },
  )
  await waitUntilInstalled(hub, host, nome, entregas[0]?.id ?? '')
  assert.notEqual(await serialOf(join(host.dataDir, `out/${nome}.crt`)), old)
}

async function waitUntilInstalled(
  hub: HubProcess,
  host: ManagedHost,
  nome: string,
  id: string,
): Promise<void> {
  await waitUntil(
    `${nome} to be installed at ${host.hostname}`,
    async () => ((await findDelivery(hub, id))?.status === 'instalada' ? true : undefined),
    LONG_MS,
  )
  const crt = join(host.dataDir, `out/${nome}.crt`)
  await assertMatchingPair(crt, join(host.dataDir, `out/${nome}.key`))
  const line = `installed ${nome} ${await serialOf(crt)}`
  await waitUntil(`the hook for ${nome} at ${host.hostname}`, async () =>
    (await host.hookLines()).includes(line) ? true : undefined,
  )
}

export function identitySerialOf(host: ManagedHost): Promise<string> {
  return serialOf(join(host.dataDir, 'identity/agent.crt'))
}

export async function serialOf(path: string): Promise<string> {
  return parseCertificatePem(await readFile(path, 'utf8')).serial
}

/** The log as the hub's own CLI checks it. */
export async function assertLogVerifies(hub: HubProcess): Promise<void> {
  const { status, stdout, stderr } = await hub.svc('evento', 'list', '--verify', '--json')
  assert.equal(status, 0, stderr)
  assert.equal((JSON.parse(stdout) as { ok: boolean }).ok, true)
}

/** By OpenSSL, which had no part in making them. */
async function assertMatchingPair(crt: string, key: string): Promise<void> {
  const ofCertificate = await runTool('openssl', ['x509', '-in', crt, '-noout', '-pubkey'])
  assert.equal(ofCertificate, await runTool('openssl', ['pkey', '-in', key, '-pubout']))
}
