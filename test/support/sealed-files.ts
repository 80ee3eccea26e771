// Recipients and sealed files as whoever seals makes them, by the age format's own library.

import { createHash } from 'node:crypto'
import { Decrypter, Encrypter, generateHybridIdentity, identityToRecipient } from 'age-encryption'
import { enrollHost, type EnrolledHost } from './enrolled-host.ts'
import type { TestHub } from './hub.ts'
import { send, type WireReply } from './wire-client.ts'

export interface AgeKeys {
  readonly identity: string
  readonly recipient: string
}

export interface CreatedCargo {
  readonly carga_id: string
  readonly versao: number
  readonly entregas: readonly { readonly id: string; readonly hostname: string }[]
}

/** A host, and the recipient that a file is sealed to for it. */
export interface SealedFor {
  readonly agentId: string
  readonly recipient: string
}

/** The `selado` of an admin request. */
export interface Sealed {
  readonly conteudo: string
  readonly destinatarios: readonly { readonly agente: string; readonly fingerprint: string }[]
  readonly escrow: readonly string[]
}

export async function createAgeKeys(): Promise<AgeKeys> {
  const identity = await generateHybridIdentity()
  return { identity, recipient: await identityToRecipient(identity) }
}

export async function sealTo(
  recipients: readonly string[],
  content: Uint8Array | string,
): Promise<Buffer> {
  const encrypter = new Encrypter()
  for (const recipient of recipients) encrypter.addRecipient(recipient)
  return Buffer.from(await encrypter.encrypt(content))
}

export async function openWith({ identity }: AgeKeys, file: Uint8Array): Promise<string> {
  const decrypter = new Decrypter()
  decrypter.addIdentity(identity)
  return Buffer.from(await decrypter.decrypt(file)).toString('utf8')
}

/** As people compare them: docs/protocol.md BLB-1. */
export function fingerprintOf(recipient: string): string {
  const digest = createHash('sha256').update(recipient).digest('base64')
  return `SHA256:${digest.replace(/=+$/, '')}`
}

export async function sealForHosts(
  hosts: readonly SealedFor[],
  content: Uint8Array | string,
  escrow: readonly string[] = [],
): Promise<Sealed> {
  const recipients = [...hosts.map(({ recipient }) => recipient), ...escrow]
  return asSealed(await sealTo(recipients, content), hosts, escrow)
}

export function asSealed(
  file: Buffer,
  hosts: readonly SealedFor[],
  escrow: readonly string[] = [],
): Sealed {
  return {
    conteudo: file.toString('base64'),
    destinatarios: hosts.map(({ agentId, recipient }) => ({
      agente: agentId,
      fingerprint: fingerprintOf(recipient),
    })),
    escrow,
  }
}

export function createSealedCargo(
  hub: Pick<TestHub, 'admin'>,
  nome: string,
  selado: Sealed,
): Promise<CreatedCargo> {
  const cargo = { tipo: 'selado', nome, agentes: [], roles: [], sans: [], selado }
  return hub.admin('POST', '/v1/admin/cargas', cargo)
}

export function updateSealedCargo(
  hub: Pick<TestHub, 'admin'>,
  carga: string,
  selado: Sealed,
): Promise<CreatedCargo> {
  return hub.admin('POST', '/v1/admin/cargas/update', { carga, selado })
}

/** A host with a recipient, and the identity that opens what is sealed to it. */
export interface SealedHost extends EnrolledHost, SealedFor {
  readonly keys: AgeKeys
}

export async function enrollSealed(
  hub: Pick<TestHub, 'ports' | 'createToken'>,
  hostname: string,
  options: { readonly role?: string; readonly reenroll?: boolean } = {},
): Promise<SealedHost> {
  const keys = await createAgeKeys()
  const { recipient } = keys
  // Its `mtls` is found at each use, so it is no property to copy.
  return Object.assign(await enrollHost(hub, hostname, { ...options, recipient }), {
    keys,
    recipient,
  })
}

export function fetchBlob(
  host: EnrolledHost,
  id: string,
  headers: Readonly<Record<string, string>> = {},
  method = 'GET',
): Promise<WireReply> {
  return send(host.mtls, { method, path: `/v1/blobs/${id}`, headers })
}

export function bytesOf({ conteudo }: Sealed): Buffer {
  return Buffer.from(conteudo, 'base64')
}

/** Its entregas as the host sees them. */
export async function manifestOf(
  host: EnrolledHost,
): Promise<readonly Readonly<Record<string, unknown>>[]> {
  return (await send(host.mtls, { path: '/v1/manifest' })).json['entregas'] as []
}
