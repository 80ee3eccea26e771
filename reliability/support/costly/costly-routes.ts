// Where hostile input goes in: each route of the hub, with one place of its requests filled by a grammar and all else as an
// honest client has it.

import { createHash } from 'node:crypto'
import { createRecoveryProof } from '../../../src/agent/identity/recovery-proof.ts'
import { parsePrivateKeyPem } from '../../../src/pki/keys.ts'
import { decodePem } from '../../../src/pki/pem.ts'
import { createKeyAndCsr, type EnrolledHost } from '../../../test/support/enrolled-host.ts'
import { HUB_NAME } from '../../../test/support/hub.ts'
import type { Target, WireRequest } from '../../../test/support/wire-client.ts'
import { csrGrammar } from './csr-grammar.ts'
import type { Grammar } from './genome.ts'
import { jsonGrammar } from './json-grammar.ts'
import { headGrammar, pemGrammar, proofGrammar } from './text-grammar.ts'

export interface CostlyRoute {
  readonly name: string
  /** Whether the hub knows who asks by the time that it looks at what is filled. */
  readonly isKnown: boolean
  readonly grammar: Grammar
  /** Of what is filled. */
  readonly bytesMax: number
  readonly target: Target
  /** What is filled: the content, and what in the grammar it is. */
  request(content: string, wrapper: string): Promise<WireRequest>
}

export interface CostlyScene {
  readonly enroll: Target
  readonly health: Target
  readonly host: EnrolledHost
  /** Of another host, not used yet. */
  readonly openToken: string
  readonly openHostname: string
}

const BODY_BYTES = 65_000
const CSR_BYTES = 16_384
const HEAD_BYTES = 14_000

export async function createCostlyRoutes(scene: CostlyScene): Promise<readonly CostlyRoute[]> {
  const { enroll, health, host } = scene
  const { csrPem } = await createKeyAndCsr('somebody')
  const stranger = { token: 'svct_guess', hostname: 'web-1', role: 'web', csr_pem: csrPem }
  const bearer = { ...stranger, token: scene.openToken, hostname: scene.openHostname }
  const recovery = { cert_pem: host.certPem, csr_pem: csrPem, proof: 'a.b.c' }
  const event = { tipo_evento: 'costly', payload: {} }
  const body = (
    name: string,
    isKnown: boolean,
    target: Target,
    path: string,
    rest: object,
  ): CostlyRoute => ({
    name: `${name}, JSON`,
    isKnown,
    grammar: jsonGrammar,
    bytesMax: BODY_BYTES - JSON.stringify(rest).length,
    target,
    request: async (content) => {
      const field = path === '/v1/events' ? 'payload' : 'more'
      const value = path === '/v1/events' && content.startsWith('[') ? `{"a":${content}}` : content
      const given = Object.entries(rest).filter(([key]) => key !== field)
      const text = JSON.stringify(Object.fromEntries(given))
      return withBody(
        path,
        `${text.slice(0, -1)}${given.length > 0 ? ',' : ''}"${field}":${value}}`,
      )
    },
  })
  const field = (
    name: string,
    isKnown: boolean,
    [target, path]: readonly [Target, string],
    [key, grammar, bytesMax]: readonly [string, Grammar, number],
    rest: (content: string) => object | Promise<object>,
  ): CostlyRoute => ({
    name: `${name}, ${key}`,
    isKnown,
    grammar,
    bytesMax,
    target,
    request: async (content) =>
      withBody(path, JSON.stringify({ ...(await rest(content)), [key]: content })),
  })
  const head = (name: string, isKnown: boolean, target: Target, path: string): CostlyRoute => ({
    name: `${name}, head`,
    isKnown,
    grammar: headGrammar,
    bytesMax: HEAD_BYTES,
    target,
    request: async (content, wrapper) => withHead(path, content, wrapper),
  })
  const prove = async (pem: string): Promise<object> => {
    const csrDer = decodePem(pem, 'certificateRequest') ?? Buffer.alloc(0)
    const key = parsePrivateKeyPem(host.keyPem)
    const proof = await createRecoveryProof({ key, csrDer, audience: HUB_NAME, now: new Date() })
    return { ...recovery, proof }
  }
  const csr = ['csr_pem', csrGrammar, CSR_BYTES] as const
  const [enrollPath, recoverPath] = ['/v1/enroll', '/v1/recover']
  return [
    body('enrol', false, enroll, enrollPath, stranger),
    field('enrol', false, [enroll, enrollPath], csr, () => stranger),
    field('enrol with its token', true, [enroll, enrollPath], csr, () => bearer),
    field('enrol', false, [enroll, enrollPath], ['token', pemGrammar, 256], () => stranger),
    body('recover', false, enroll, recoverPath, recovery),
    field('recover', false, [enroll, recoverPath], csr, () => ({
      ...recovery,
      cert_pem: certificateNobodyKnows(host.certPem),
    })),
    field(
      'recover',
      false,
      [enroll, recoverPath],
      ['cert_pem', pemGrammar, 32_768],
      () => recovery,
    ),
    field('recover', false, [enroll, recoverPath], ['proof', proofGrammar, 4096], () => recovery),
    field('recover with its key', true, [enroll, recoverPath], csr, prove),
    head('enrol', false, enroll, enrollPath),
    head('health', false, health, '/health'),
    body('certs/issue', true, host.mtls, '/v1/certs/issue', { csr_pem: csrPem }),
    field('certs/issue', true, [host.mtls, '/v1/certs/issue'], csr, () => ({})),
    body('events', true, host.mtls, '/v1/events', event),
    body('recipient', true, host.mtls, '/v1/recipient', { recipient: 'age1pq1' }),
    head('manifest', true, host.mtls, '/v1/manifest'),
    head('blobs', true, host.mtls, `/v1/blobs/${host.agentId}`),
  ]
}

/** Of the same size and shape as one that it knows. */
function certificateNobodyKnows(pem: string): string {
  const der = Buffer.from(decodePem(pem, 'certificate') ?? [])
  const digest = createHash('sha256').update(der).digest()
  digest.copy(der, der.length - digest.length)
  return `-----BEGIN CERTIFICATE-----\n${der.toString('base64')}\n-----END CERTIFICATE-----\n`
}

function withBody(path: string, body: string): WireRequest {
  const method = path === '/v1/recipient' ? 'PUT' : 'POST'
  return { method, path, headers: { 'content-type': 'application/json' }, body }
}

function withHead(path: string, content: string, wrapper: string): WireRequest {
  // What Node's client refuses to send is no use in a search.
  const visible = content.replaceAll(/[^!-~]/g, '~')
  if (wrapper === 'path') return { path: `${path}/${visible.replaceAll('?', '/')}` }
  if (wrapper === 'query') return { path: `${path}?${visible}` }
  if (wrapper !== 'many headers') return { path, headers: { [wrapper]: visible } }
  const names = Array.from({ length: visible.length / 20 }, (_, at) => [
    `x-${at}`,
    visible.slice(0, 4),
  ])
  return { path, headers: Object.fromEntries(names) as Record<string, string> }
}
