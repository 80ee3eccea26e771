// A delivered key and certificate in `out/`, which change as one, with the record of what they were made for.

import { join } from 'node:path'
import { type Static, Type } from 'typebox'
import { Check } from 'typebox/value'
import { readTextIfPresent } from '../../platform/files.ts'
import { type Certificate, parseCertificatesPem } from '../../pki/certificates.ts'
import { parsePrivateKeyPem } from '../../pki/keys.ts'
import type { ArtefactName } from '../../protocol/identifiers.ts'
import type { KnownFiles } from '../files/known-files.ts'
import {
  currentVersionDirectory,
  switchVersion,
  type VersionedLayout,
} from '../files/versioned-files.ts'
import { artefactKey, type InstalledArtefact } from './delivery-kind.ts'

/** Staged with the pair: after a crash the disk alone says what was installed, and which event reports it. */
export const PairRecord = Type.Object({
  delivery_id: Type.String(),
  cargo_id: Type.String(),
  version: Type.Integer(),
  request_id: Type.String(),
  /** The names that its CSR had besides the CN. */
  sans: Type.Optional(Type.Array(Type.String())),
  renewal: Type.Union([
    Type.Null(),
    Type.Object({
      old_serial: Type.String(),
      trigger: Type.Union([Type.Literal('auto_threshold'), Type.Literal('delivery')]),
    }),
  ]),
})
export type PairRecord = Static<typeof PairRecord>

export interface InstalledPair extends InstalledArtefact {
  readonly leaf: Certificate
  readonly record: PairRecord
}

export interface PairPaths {
  readonly certificatePath: string
  readonly keyPath: string
}

const CERTIFICATE = 'cert.pem'
const KEY = 'key.pem'
const RECORD = 'delivery.json'
const FILE_BYTES_MAX = 1024 * 1024

export function pairPaths(outDir: string, name: ArtefactName): PairPaths {
  return { certificatePath: join(outDir, `${name}.crt`), keyPath: join(outDir, `${name}.key`) }
}

export function pairLayout(outDir: string, name: ArtefactName): VersionedLayout {
  return {
    directory: outDir,
    versionsPath: join('.versions', name),
    links: { [`${name}.crt`]: CERTIFICATE, [`${name}.key`]: KEY },
    directoryMode: 0o755,
  }
}

/** Undefined when there is no pair, or no usable one: then the agent makes it again. */
export async function readInstalledPair(
  outDir: string,
  name: ArtefactName,
  known?: KnownFiles<InstalledPair>,
): Promise<InstalledPair | undefined> {
  const directory = await currentVersionDirectory(pairLayout(outDir, name))
  if (directory === undefined) return undefined
  const paths = [CERTIFICATE, KEY, RECORD].map((file) => join(directory, file))
  return known === undefined
    ? readPair(paths)
    : known.read(artefactKey({ kind: 'csr_cert', name }), paths, () => readPair(paths))
}

async function readPair(paths: readonly string[]): Promise<InstalledPair | undefined> {
  const [certificatePem, keyPem, recordText] = await Promise.all(
    paths.map((path) => readTextIfPresent(path, FILE_BYTES_MAX)),
  )
  if (certificatePem === undefined || keyPem === undefined || recordText === undefined)
    return undefined
  return parsePair(certificatePem, keyPem, recordText)
}

export async function storePair(
  outDir: string,
  name: ArtefactName,
  pair: { readonly certificatePem: string; readonly keyPem: string; readonly record: PairRecord },
): Promise<void> {
  await switchVersion(pairLayout(outDir, name), [
    { name: KEY, content: pair.keyPem, mode: 0o600 },
    { name: CERTIFICATE, content: pair.certificatePem, mode: 0o644 },
    { name: RECORD, content: `${JSON.stringify(pair.record)}\n`, mode: 0o600 },
  ])
}

function parsePair(
  certificatePem: string,
  keyPem: string,
  recordText: string,
): InstalledPair | undefined {
  try {
    const [leaf] = parseCertificatesPem(certificatePem)
    const record = JSON.parse(recordText) as unknown
    if (leaf === undefined || !Check(PairRecord, record)) return undefined
    if (!parsePrivateKeyPem(keyPem).publicKeySpki.equals(leaf.publicKeySpki)) return undefined
    return { leaf, record }
  } catch {
    // Damaged by someone else; whatever is wrong with it, a new pair is the answer.
    return undefined
  }
}
