// The agent's identity on disk: key, certificate and trust anchor, which change as one.

import { realpath } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { type Static, Type } from 'typebox'
import { Check } from 'typebox/value'
import { describeError, errnoCode, SvcError, UserError } from '../../platform/errors.ts'
import { readTextIfPresent } from '../../platform/files.ts'
import { timeOrderedUuid } from '../../platform/time-ordered-uuid.ts'
import { type Certificate, parseCertificatesPem } from '../../pki/certificates.ts'
import { type PrivateKey, parsePrivateKeyPem } from '../../pki/keys.ts'
import { type FileOperations, nodeFileOperations } from '../files/file-operations.ts'
import type { KnownFiles } from '../files/known-files.ts'
import { switchVersion, type VersionedLayout, type VersionFile } from '../files/versioned-files.ts'

export interface Identity {
  readonly hostname: string
  readonly leaf: Certificate
  /** Leaf and intermediates. */
  readonly certificatePem: string
  readonly key: PrivateKey
  readonly caPem: string
  readonly roots: readonly Certificate[]
  readonly record: IdentityRecord | undefined
}

/** Why this identity is there; staged with it, so that its event is neither lost nor sent twice. */
export const IdentityRecord = Type.Object({
  agent_id: Type.Union([Type.String(), Type.Null()]),
  request_id: Type.String(),
  renewal: Type.Union([
    Type.Null(),
    Type.Object({
      old_serial: Type.String(),
      trigger: Type.Union([
        Type.Literal('auto_threshold'),
        Type.Literal('manual'),
        Type.Literal('delivery'),
        Type.Literal('recovery'),
      ]),
    }),
  ]),
  bundle: Type.Optional(
    Type.Object({
      numero: Type.Integer(),
      /** Absent for the first. */
      epoca: Type.Optional(Type.Integer()),
      request_id: Type.String(),
    }),
  ),
})
/** Of the set of roots that was adopted; absent before the first one. */
export type AdoptedBundle = NonNullable<IdentityRecord['bundle']>
export type IdentityRecord = Static<typeof IdentityRecord>

export interface NewIdentity {
  readonly certificatePem: string
  readonly keyPem: string
  readonly caPem: string
  readonly agentId: string | null
  readonly renewal: IdentityRecord['renewal']
  /** The set that `caPem` is, when that is known. */
  readonly bundle?: AdoptedBundle | undefined
}

const CERTIFICATE = 'agent.crt'
const KEY = 'agent.key'
const ROOT = 'ca.pem'
const RECORD = 'identity.json'
const FILE_BYTES_MAX = 1024 * 1024

/** Undefined when there is none; throws a UserError when there is one that cannot be used. */
export async function loadIdentity(
  identityDir: string,
  known?: KnownFiles<Identity>,
): Promise<Identity | undefined> {
  // Resolved once: the files are then of one version, whatever changes meanwhile.
  const certificatePath = await resolveIfPresent(join(identityDir, CERTIFICATE))
  if (certificatePath === undefined) return undefined
  try {
    const directory = dirname(certificatePath)
    const read = () => readIdentity(directory, basename(certificatePath))
    if (known === undefined) return await read()
    const files = [certificatePath, ...[KEY, ROOT, RECORD].map((file) => join(directory, file))]
    return await known.read(identityDir, files, read)
  } catch (error) {
    throw new UserError(
      'identity_damaged',
      `identity at ${identityDir} is damaged: ${describeError(error)}`,
      {
        cause: undefined,
        hint: `move ${identityDir} away and enroll again`,
      },
    )
  }
}

/** Throws the specification's message when there is no identity. */
export async function requireIdentity(
  identityDir: string,
  known?: KnownFiles<Identity>,
): Promise<Identity> {
  const identity = await loadIdentity(identityDir, known)
  if (identity === undefined) {
    throw new UserError('no_identity', `no identity at ${identityDir} — run enroll first`)
  }
  return identity
}

export async function storeIdentity(
  identityDir: string,
  identity: NewIdentity,
  files: FileOperations = nodeFileOperations,
): Promise<void> {
  const record: IdentityRecord = {
    agent_id: identity.agentId,
    request_id: timeOrderedUuid(),
    renewal: identity.renewal,
    ...(identity.bundle === undefined ? {} : { bundle: identity.bundle }),
  }
  await switchVersion(identityLayout(identityDir), filesOf(identity, record), files)
}

/** The same identity, with other roots: all that changes is what is trusted, and by which number it is known. */
export async function replaceRoots(
  identityDir: string,
  { certificatePem, key, record }: Identity,
  roots: { readonly caPem: string; readonly numero: number; readonly epoca: number },
  files: FileOperations = nodeFileOperations,
): Promise<void> {
  const changed: IdentityRecord = {
    ...(record ?? { agent_id: null, request_id: timeOrderedUuid(), renewal: null }),
    bundle: {
      numero: roots.numero,
      ...(roots.epoca > 1 && { epoca: roots.epoca }),
      request_id: timeOrderedUuid(),
    },
  }
  const content = { certificatePem, keyPem: key.pem, caPem: roots.caPem }
  await switchVersion(identityLayout(identityDir), filesOf(content, changed), files)
}

/** The files of one version; throws when they could be written, but not be read back. */
export function filesOf(
  identity: Pick<NewIdentity, 'certificatePem' | 'keyPem' | 'caPem'>,
  record: IdentityRecord,
): VersionFile[] {
  const files = [
    { name: KEY, content: identity.keyPem, mode: 0o600 },
    { name: CERTIFICATE, content: identity.certificatePem, mode: 0o644 },
    { name: ROOT, content: identity.caPem, mode: 0o644 },
    { name: RECORD, content: `${JSON.stringify(record)}\n`, mode: 0o600 },
  ]
  const tooLarge = files.find(({ content }) => Buffer.byteLength(content) > FILE_BYTES_MAX)
  if (tooLarge === undefined) return files
  throw new SvcError(
    'identity_too_large',
    `${tooLarge.name} would have more than the ${FILE_BYTES_MAX} bytes allowed`,
  )
}

export function identityLayout(identityDir: string): VersionedLayout {
  return {
    directory: identityDir,
    versionsPath: '.versions',
    links: { [CERTIFICATE]: CERTIFICATE, [KEY]: KEY, [ROOT]: ROOT },
    directoryMode: 0o700,
  }
}

async function readIdentity(directory: string, certificateName: string): Promise<Identity> {
  const certificatePem = await readRequired(join(directory, certificateName))
  const [leaf] = parseCertificatesPem(certificatePem)
  if (leaf === undefined) throw new Error(`${certificateName} holds no certificate`)
  if (leaf.commonName === undefined) throw new Error(`${certificateName} has no single CN`)
  const key = parsePrivateKeyPem(await readRequired(join(directory, KEY)))
  if (!key.publicKeySpki.equals(leaf.publicKeySpki)) {
    throw new Error(`${KEY} is not the key of ${certificateName}`)
  }
  const caPem = await readRequired(join(directory, ROOT))
  const roots = parseCertificatesPem(caPem)
  if (roots.length === 0) throw new Error(`${ROOT} holds no certificate`)
  const record = parseRecord(await readTextIfPresent(join(directory, RECORD), FILE_BYTES_MAX))
  return { hostname: leaf.commonName, leaf, certificatePem, key, caPem, roots, record }
}

async function readRequired(path: string): Promise<string> {
  const text = await readTextIfPresent(path, FILE_BYTES_MAX)
  if (text === undefined) throw new Error(`${basename(path)} is missing`)
  return text
}

function parseRecord(text: string | undefined): IdentityRecord | undefined {
  if (text === undefined) return undefined
  const record = JSON.parse(text) as unknown
  if (!Check(IdentityRecord, record)) throw new Error(`${RECORD} is not valid`)
  return record
}

async function resolveIfPresent(path: string): Promise<string | undefined> {
  try {
    return await realpath(path)
  } catch (error) {
    if (errnoCode(error) === 'ENOENT') return undefined
    throw error
  }
}
