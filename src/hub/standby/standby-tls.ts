// Who a hub and its standby are to each other. Both have the data key of the vault, and nobody else has: each makes from it the key of an
// Ed25519 certificate, and trusts the other's certificate alone. No CA, no name and no clock is part of it. docs/protocol.md STB-4.

import { createPrivateKey, createPublicKey, type KeyObject, sign } from 'node:crypto'
import { encodePem } from '../../pki/pem.ts'
import { DerTag } from '../../pki/der.ts'
import { writeBitString, writeDer, writeSequence } from '../../pki/write-der.ts'
import { deriveSaltedKey } from '../../platform/sealed-pieces.ts'
import type { Secret } from '../../platform/secret.ts'

export interface StandbyTls {
  readonly key: string
  readonly cert: string
  /** Of the other one. */
  readonly ca: string
}

type Side = 'hub' | 'standby'

const PKCS8_PREFIX = Buffer.from('302e020100300506032b657004220420', 'hex')
const ED25519 = writeSequence(writeDer(DerTag.objectIdentifier, Buffer.from('2b6570', 'hex')))
const COMMON_NAME = writeDer(DerTag.objectIdentifier, Buffer.from('550403', 'hex'))
const UTC_TIME = 0x17
const GENERALIZED_TIME = 0x18
const VERSION_3 = writeDer(DerTag.explicit0, writeDer(DerTag.integer, Buffer.of(2)))
/** It ends with the data key. */
const VALIDITY = writeSequence(
  writeDer(UTC_TIME, Buffer.from('200101000000Z')),
  writeDer(GENERALIZED_TIME, Buffer.from('99991231235959Z')),
)

export function standbyTls(dataKey: Secret<Buffer>, vaultId: string, side: Side): StandbyTls {
  const key = deriveKey(dataKey, vaultId, side)
  const other = side === 'hub' ? 'standby' : 'hub'
  return {
    key: key.export({ format: 'pem', type: 'pkcs8' }).toString(),
    cert: certify(key, side),
    ca: certify(deriveKey(dataKey, vaultId, other), other),
  }
}

function deriveKey(dataKey: Secret<Buffer>, vaultId: string, side: Side): KeyObject {
  const salt = Buffer.from(vaultId).toString('hex')
  const seed = deriveSaltedKey(dataKey, salt, `cartorio standby tls ${side}`)
  return createPrivateKey({
    key: Buffer.concat([PKCS8_PREFIX, seed]),
    format: 'der',
    type: 'pkcs8',
  })
}

/** The same bytes each time. */
function certify(key: KeyObject, side: Side): string {
  const value = writeDer(DerTag.utf8String, Buffer.from(`cartorio ${side}`))
  const name = writeSequence(writeDer(DerTag.set, writeSequence(COMMON_NAME, value)))
  const content = writeSequence(
    VERSION_3,
    writeDer(DerTag.integer, Buffer.of(1)),
    ED25519,
    name,
    VALIDITY,
    name,
    createPublicKey(key).export({ format: 'der', type: 'spki' }),
  )
  const signature = writeBitString(sign(null, content, key))
  return encodePem(writeSequence(content, ED25519, signature), 'CERTIFICATE')
}
