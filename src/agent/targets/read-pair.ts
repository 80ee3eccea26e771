// A delivered pair as the applier of targets reads it.

import { join } from 'node:path'
import { Check } from 'typebox/value'
import { describeError } from '../../platform/errors.ts'
import { type Certificate, parseCertificatesPem } from '../../pki/certificates.ts'
import { isAcceptablePublicKey, parsePrivateKeyPem, type PrivateKey } from '../../pki/keys.ts'
import type { ArtefactName } from '../../protocol/identifiers.ts'
import { pairLayout, PairRecord } from '../delivery/installed-pair.ts'
import { identityLayout } from '../identity/identity.ts'
import { actAs, type FileOwner } from '../files/act-as.ts'
import type { MaterialReading } from './apply-targets.ts'
import { findCheapKeyPem } from './cheap-key.ts'
import { currentVersion, findMistrust, readOwnedFile, wordedAs } from './read-as-owner.ts'

/** Where the agent keeps what targets are made of. */
export interface PairPlaces {
  readonly outDir: string
  readonly identityDir: string
}

const FILE_BYTES_MAX = 1024 * 1024
const CERTIFICATES_MAX = 16

/** What is installed for `name` now; the reason when there is nothing that can be used. Never throws for what it finds. */
export async function readPairAsOwner(
  owner: FileOwner,
  places: PairPlaces,
  name: ArtefactName,
): Promise<MaterialReading> {
  const mistrust = await findMistrust(owner, [places.outDir, places.identityDir])
  if (mistrust !== undefined) return { ok: false, reason: mistrust }
  const files = await actAs(owner, async () => readFiles(owner, places, name))
  if (!files.ok) return files
  try {
    return parseFiles(files)
  } catch (error) {
    return { ok: false, reason: `the pair of ${name} cannot be used: ${describeError(error)}` }
  }
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
  const readText = (path: string): string =>
    readOwnedFile(owner, path, FILE_BYTES_MAX).toString('utf8')
  try {
    const version = currentVersion(pairLayout(outDir, name))
    if (version === undefined) return { ok: false, reason: `nothing is installed for ${name}` }
    return {
      ok: true,
      certificatePem: readText(join(version, 'cert.pem')),
      keyPem: readText(join(version, 'key.pem')),
      recordText: readText(join(version, 'delivery.json')),
      // An identity that was restored from a backup may still be plain files.
      caPem: readText(join(currentVersion(identityLayout(identityDir)) ?? identityDir, 'ca.pem')),
    }
  } catch (error) {
    return { ok: false, reason: describeError(error) }
  }
}

function parseFiles({ certificatePem, keyPem, recordText, caPem }: PairFiles): MaterialReading {
  const [leaf, ...chain] = parseBounded(certificatePem, 'cert.pem')
  const roots = parseBounded(caPem, 'ca.pem')
  const key = parseKey(keyPem)
  const record = parseRecord(recordText)
  if (leaf === undefined || roots.length === 0) throw new Error('a certificate is missing')
  if (!isAcceptablePublicKey(leaf.x509.publicKey)) throw new Error('its key has an unknown type')
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
    version: undefined,
    deliveryId: record.delivery_id,
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
