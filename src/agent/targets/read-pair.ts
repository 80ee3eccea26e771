// A delivered pair as root reads it beside an agent that it does not trust: with the rights of the agent's own user, so
// that no planted link leads anywhere that the agent could not go, and bounded, so that nothing planted holds it up.

import { closeSync, constants, fstatSync, openSync, readlinkSync, readSync } from 'node:fs'
import { join } from 'node:path'
import { Check } from 'typebox/value'
import { describeError, errnoCode } from '../../platform/errors.ts'
import { type Certificate, parseCertificatesPem } from '../../pki/certificates.ts'
import { isAcceptablePublicKey, parsePrivateKeyPem, type PrivateKey } from '../../pki/keys.ts'
import type { ArtefactName } from '../../protocol/identifiers.ts'
import { pairLayout, PairRecord } from '../delivery/installed-pair.ts'
import { identityLayout } from '../identity/identity.ts'
import type { VersionedLayout } from '../versioned-files.ts'
import { actAs, type FileOwner } from './act-as.ts'
import { findCheapKeyPem } from './cheap-key.ts'
import type { PairMaterial } from './render-content.ts'
import { readTrustedDirectories } from './trusted-path.ts'

export interface PairPlaces {
  readonly outDir: string
  readonly identityDir: string
}

export type PairReading =
  | {
      readonly ok: true
      readonly material: PairMaterial
      /** Lower-case hex. */
      readonly serial: string
      readonly record: PairRecord
    }
  | { readonly ok: false; readonly reason: string }

const FILE_BYTES_MAX = 1024 * 1024
const CERTIFICATES_MAX = 16
const VERSION_NAME = /^\d{6,12}$/
/** Never through a link, never waiting for the other end of a FIFO, never taking a terminal. */
const READ = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK | constants.O_NOCTTY

/** What is installed for `name` now; the reason when there is nothing that can be used. Never throws for what it finds. */
export async function readPairAsOwner(
  owner: FileOwner,
  places: PairPlaces,
  name: ArtefactName,
): Promise<PairReading> {
  const mistrust = await findMistrust(owner, places)
  if (mistrust !== undefined) return { ok: false, reason: mistrust }
  const files = await actAs(owner, async () => readFiles(owner, places, name))
  if (!files.ok) return files
  try {
    return parseFiles(files)
  } catch (error) {
    return { ok: false, reason: `the pair of ${name} cannot be used: ${describeError(error)}` }
  }
}

/** Links are no danger to those who can follow none but their own; when the files are root's, nobody may plant any. */
async function findMistrust(
  owner: FileOwner,
  { outDir, identityDir }: PairPlaces,
): Promise<string | undefined> {
  if (process.geteuid?.() !== 0 || owner.uid !== 0) return undefined
  for (const directory of [outDir, identityDir]) {
    const trusted = await readTrustedDirectories(directory, owner.uid)
    if (!trusted.ok) return trusted.reason
  }
  return undefined
}

interface PairFiles {
  readonly ok: true
  readonly certificatePem: string
  readonly keyPem: string
  readonly recordText: string
  readonly caPem: string
}

/** All at once, without a pause in which something else of this process could act with the owner's rights. */
function readFiles(
  owner: FileOwner,
  { outDir, identityDir }: PairPlaces,
  name: ArtefactName,
): PairFiles | { readonly ok: false; readonly reason: string } {
  try {
    const version = currentVersion(pairLayout(outDir, name))
    if (version === undefined) return { ok: false, reason: `nothing is installed for ${name}` }
    return {
      ok: true,
      certificatePem: readOwnedFile(owner, join(version, 'cert.pem')),
      keyPem: readOwnedFile(owner, join(version, 'key.pem')),
      recordText: readOwnedFile(owner, join(version, 'delivery.json')),
      // An identity that was restored from a backup may still be plain files.
      caPem: readOwnedFile(
        owner,
        join(currentVersion(identityLayout(identityDir)) ?? identityDir, 'ca.pem'),
      ),
    }
  } catch (error) {
    return { ok: false, reason: describeError(error) }
  }
}

/** Read once, so that all files are of one version, whatever is switched meanwhile. */
function currentVersion({ directory, versionsPath }: VersionedLayout): string | undefined {
  const versions = join(directory, versionsPath)
  const current = join(versions, 'current')
  try {
    const target = readlinkSync(current)
    if (!VERSION_NAME.test(target)) throw new Error(`${current} does not lead to a version`)
    return join(versions, target)
  } catch (error) {
    if (errnoCode(error) === 'ENOENT') return undefined
    throw error
  }
}

function readOwnedFile({ uid }: FileOwner, path: string): string {
  const descriptor = openSync(path, READ)
  try {
    const stats = fstatSync(descriptor)
    if (!stats.isFile()) throw new Error(`${path} is not a regular file`)
    if (stats.uid !== uid) throw new Error(`${path} belongs to user ${stats.uid}`)
    return readBounded(descriptor, path)
  } finally {
    closeSync(descriptor)
  }
}

/** However long the file says it is, and however it grows. */
function readBounded(descriptor: number, path: string): string {
  const bytes = Buffer.alloc(FILE_BYTES_MAX + 1)
  let length = 0
  for (;;) {
    const count = readSync(descriptor, bytes, length, bytes.length - length, null)
    length += count
    if (length > FILE_BYTES_MAX) throw new Error(`${path} has more than ${FILE_BYTES_MAX} bytes`)
    if (count === 0) return bytes.toString('utf8', 0, length)
  }
}

function parseFiles({ certificatePem, keyPem, recordText, caPem }: PairFiles): PairReading {
  const [leaf, ...chain] = parseBounded(certificatePem, 'cert.pem')
  const roots = parseBounded(caPem, 'ca.pem')
  const key = parseKey(keyPem)
  const record = parseRecord(recordText)
  if (leaf === undefined || roots.length === 0) throw new Error('a certificate is missing')
  if (!isAcceptablePublicKey(leaf.x509.publicKey)) throw new Error('its key is of no known type')
  if (!key.publicKeySpki.equals(leaf.publicKeySpki)) {
    throw new Error('its key is not the key of its certificate')
  }
  return {
    ok: true,
    material: {
      leafPem: leaf.pem,
      chainPems: chain.map(({ pem }) => pem),
      keyPem: key.pem,
      caPem: roots.map(({ pem }) => pem).join(''),
    },
    serial: leaf.serial,
    record,
  }
}

function parseBounded(pem: string, file: string): Certificate[] {
  if (pem.split('-----BEGIN CERTIFICATE-----', CERTIFICATES_MAX + 2).length > CERTIFICATES_MAX + 1)
    throw new Error(`${file} has more than ${CERTIFICATES_MAX} certificates`)
  return wordedAs(`${file} cannot be parsed`, () => parseCertificatesPem(pem))
}

function parseKey(pem: string): PrivateKey {
  const plain = findCheapKeyPem(pem)
  if (plain === undefined) throw new Error('key.pem cannot be parsed')
  return wordedAs('key.pem cannot be parsed', () => parsePrivateKeyPem(plain))
}

function parseRecord(text: string): PairRecord {
  const record = wordedAs('delivery.json cannot be parsed', () => JSON.parse(text) as unknown)
  if (!Check(PairRecord, record)) throw new Error('delivery.json is not valid')
  return record
}

/** A parser's own message may quote what it was given, which may be a key. */
function wordedAs<T>(message: string, parse: () => T): T {
  try {
    return parse()
  } catch {
    throw new Error(message)
  }
}
