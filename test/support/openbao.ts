// A real OpenBao with a PKI: a root and an intermediate of its own, a role, a policy, and AppRole; its server's certificate is from
// elsewhere. What it has is on disk, so that it can be stopped and started.

import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Agent, request } from 'undici'
import { createAuthority } from '../fakes/ca-server.ts'
import { ensureOpenBao } from '../../tools/install-openbao.ts'
import { findFreePort } from './free-port.ts'
import { type RunningProgram, startCommand, type Variables, waitUntil } from './processes.ts'

export interface BaoReply {
  readonly status: number
  readonly json: Readonly<Record<string, unknown>>
}

export interface RunningOpenBao extends AsyncDisposable {
  readonly url: string
  /** Of what it signs. */
  readonly rootPem: string
  readonly rootPath: string
  /** By which its server is known. */
  readonly tlsRootPem: string
  readonly tlsRootPath: string
  /** One that may sign and revoke, ends, and can be renewed. */
  readonly token: string
  readonly roleId: string
  readonly secretId: string
  /** Those of a hub with this token. */
  readonly environment: Variables
  /** As root, or with another token. */
  api(method: 'GET' | 'POST', path: string, fields?: object, token?: string): Promise<BaoReply>
  stop(): Promise<void>
  start(): Promise<void>
}

export interface OpenBaoOptions {
  /** Where everything is; else in the root namespace. */
  readonly namespace?: string
  /** In place of some of the role's settings. */
  readonly role?: object
}

const MOUNT = 'pki_hosts'
const ROLE = 'hosts'
const LIFE_MS = 24 * 3_600_000

/** Throws where OpenBao is not there: ask ensureOpenBao() first and skip. */
export async function startOpenBao({
  namespace,
  role,
}: OpenBaoOptions = {}): Promise<RunningOpenBao> {
  const program = await ensureOpenBao()
  if (program === undefined) throw new Error('OpenBao is not installed')
  await using stack = new AsyncDisposableStack()
  const directory = await mkdtemp(join(tmpdir(), 'openbao-'))
  stack.defer(() => rm(directory, { recursive: true, force: true }))
  const tls = await createAuthority(LIFE_MS)
  const port = await findFreePort()
  const clusterPort = await findFreePort()
  const place = (name: string): string => join(directory, name)
  await writeFile(place('tls.pem'), tls.serverCertPem)
  await writeFile(place('tls.key'), tls.serverKeyPem, { mode: 0o600 })
  await writeFile(place('tls-root.pem'), tls.rootPem)
  await mkdir(place('data'))
  await writeFile(place('bao.hcl'), configurationOf(directory, port, clusterPort))
  const url = `https://127.0.0.1:${port}`
  const dispatcher = new Agent({ connect: { ca: tls.rootPem }, allowH2: false })
  stack.defer(() => dispatcher.destroy())
  let rootToken = ''
  let unsealKey = ''
  const call = async (
    method: 'GET' | 'POST',
    path: string,
    fields?: object,
    token = rootToken,
    where = namespace,
  ): Promise<BaoReply> => {
    const reply = await request(`${url}/v1/${path}`, {
      method,
      dispatcher,
      headers: {
        ...(token !== '' && { 'x-vault-token': token }),
        ...(where !== undefined && where !== '' && { 'x-vault-namespace': where }),
      },
      body: fields === undefined ? null : JSON.stringify(fields),
    })
    const text = await reply.body.text()
    return {
      status: reply.statusCode,
      json: text === '' ? {} : (JSON.parse(text) as BaoReply['json']),
    }
  }
  const api = async (...args: Parameters<RunningOpenBao['api']>): Promise<BaoReply> => call(...args)
  const must = async (path: string, fields: object = {}): Promise<Record<string, unknown>> => {
    const { status, json } = await call('POST', path, fields)
    if (status >= 300) throw new Error(`${path}: ${status} ${JSON.stringify(json)}`)
    return (json['data'] ?? json['auth'] ?? {}) as Record<string, unknown>
  }

  let running: RunningProgram | undefined
  const start = async (): Promise<void> => {
    const [python, ...args] = program
    running = startCommand(python, [...args, 'server', `-config=${place('bao.hcl')}`], {})
    await waitUntil('OpenBao to answer', async () => {
      if (running?.hasEnded() === true) {
        const { stdout, stderr } = await running.ended
        throw new Error(`OpenBao ended:\n${stdout}${stderr}`)
      }
      const reply = await call('GET', 'sys/seal-status', undefined, '', '').catch(() => undefined)
      return reply?.status === 200 ? true : undefined
    })
    if (unsealKey !== '') await unseal()
  }
  const unseal = async (): Promise<void> => {
    await call('POST', 'sys/unseal', { key: unsealKey }, '', '')
    await waitUntil('OpenBao to be active', async () => {
      const reply = await call('GET', 'sys/health', undefined, '', '')
      return reply.status === 200 ? true : undefined
    })
  }
  const stop = async (): Promise<void> => {
    running?.kill('SIGTERM')
    await running?.ended
  }
  stack.defer(stop)
  await start()
  const init = { secret_shares: 1, secret_threshold: 1 }
  const { json } = await call('POST', 'sys/init', init, '', '')
  rootToken = String(json['root_token'])
  unsealKey = String((json['keys_base64'] as unknown[])[0])
  await unseal()
  if (namespace !== undefined) await call('POST', `sys/namespaces/${namespace}`, {}, rootToken, '')

  const rootPem = await makePki(must, role)
  await writeFile(place('root.pem'), rootPem)
  const { token, roleId, secretId } = await makeLogins(must)
  const kept = stack.move()
  return {
    url,
    rootPem,
    rootPath: place('root.pem'),
    tlsRootPem: await readFile(place('tls-root.pem'), 'utf8'),
    tlsRootPath: place('tls-root.pem'),
    token,
    roleId,
    secretId,
    environment: {
      SVC_CA_KIND: 'openbao',
      SVC_CA_URL: url,
      SVC_CA_ROOT_CA_PATH: place('root.pem'),
      SVC_CA_TLS_ROOT_PATH: place('tls-root.pem'),
      SVC_OPENBAO_MOUNT: MOUNT,
      SVC_OPENBAO_ROLE: ROLE,
      SVC_OPENBAO_TOKEN: token,
      ...(namespace !== undefined && { SVC_OPENBAO_NAMESPACE: namespace }),
    },
    api,
    stop,
    start,
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  }
}

function configurationOf(directory: string, port: number, clusterPort: number): string {
  return `
storage "raft" {
  path = "${join(directory, 'data')}"
  node_id = "one"
  performance_multiplier = 1
}
listener "tcp" {
  address = "127.0.0.1:${port}"
  tls_cert_file = "${join(directory, 'tls.pem')}"
  tls_key_file = "${join(directory, 'tls.key')}"
}
api_addr = "https://127.0.0.1:${port}"
cluster_addr = "https://127.0.0.1:${clusterPort}"
`
}

type Must = (path: string, fields?: object) => Promise<Record<string, unknown>>

/** A root that signs an intermediate, and a role of docs/operations.md. */
async function makePki(must: Must, role: object | undefined): Promise<string> {
  const engine = { type: 'pki', config: { max_lease_ttl: '87600h' } }
  await must('sys/mounts/pki_root', engine)
  await must(`sys/mounts/${MOUNT}`, engine)
  const key = { key_type: 'ec', key_bits: 256 }
  const root = await must('pki_root/root/generate/internal', {
    common_name: 'Bao Root',
    ttl: '87600h',
    ...key,
  })
  const { csr } = await must(`${MOUNT}/intermediate/generate/internal`, {
    common_name: 'Bao Hosts',
    ...key,
  })
  const signed = await must('pki_root/root/sign-intermediate', { csr, ttl: '43800h' })
  const chain = `${String(signed['certificate'])}\n${String(root['certificate'])}`
  await must(`${MOUNT}/intermediate/set-signed`, { certificate: chain })
  await must(`${MOUNT}/roles/${ROLE}`, {
    allow_any_name: true,
    enforce_hostnames: false,
    use_csr_common_name: false,
    use_csr_sans: false,
    key_type: 'any',
    ttl: '24h',
    max_ttl: '24h',
    ...role,
  })
  return String(root['certificate'])
}

async function makeLogins(
  must: Must,
): Promise<Pick<RunningOpenBao, 'token' | 'roleId' | 'secretId'>> {
  await must('sys/policies/acl/cartorio', {
    policy: `
path "${MOUNT}/sign/${ROLE}" { capabilities = ["update"] }
path "${MOUNT}/revoke" { capabilities = ["update"] }
path "${MOUNT}/roles/${ROLE}" { capabilities = ["read"] }
`,
  })
  const policies = { policies: ['cartorio'], ttl: '1h', renewable: true }
  const { client_token: token } = await must('auth/token/create', policies)
  await must('sys/auth/approle', { type: 'approle' })
  await must('auth/approle/role/hub', { token_policies: ['cartorio'], token_ttl: '20m' })
  const { secret_id: secretId } = await must('auth/approle/role/hub/secret-id')
  return { token: String(token), roleId: await readRoleId(must), secretId: String(secretId) }
}

/** One that we chose. */
async function readRoleId(must: Must): Promise<string> {
  const roleId = 'cartorio-hub'
  await must('auth/approle/role/hub/role-id', { role_id: roleId })
  return roleId
}
