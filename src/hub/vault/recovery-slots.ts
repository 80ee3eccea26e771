// Recovery keys: the data key sealed for a recipient of the age format, so that its identity opens the vault when the passphrase is
// lost. docs/protocol.md KEY-6.

import { Secret } from '../../platform/secret.ts'
import type { Recipient } from '../../protocol/identifiers.ts'
import { recipientOf } from '../../sealing/age-identity.ts'
import { openSealed, sealFor } from '../../sealing/sealed-file.ts'
import type { RecoverySlot } from './key-changes.ts'
import { KEY_BYTES } from './key-derivation.ts'
import type { VaultConfig } from './vault-config.ts'
import { VaultError } from './vault-error.ts'

/** Before the key: what it is, and of which vault. */
function contextOf(vaultId: string): Buffer {
  return Buffer.from(`svc vault data key v1\n${vaultId}\n`)
}

/** Throws UserError when the recipient's checksum is wrong. */
export async function sealDataKey(
  vaultId: string,
  dataKey: Secret<Buffer>,
  recipient: Recipient,
): Promise<Buffer> {
  const content = Buffer.concat([contextOf(vaultId), dataKey.reveal()])
  return Buffer.from(await sealFor([recipient], content))
}

export interface RecoveredKey {
  readonly slot: RecoverySlot
  readonly dataKey: Secret<Buffer>
}

/** Throws VaultError when no recovery key of the vault is of this identity. */
export async function openRecoverySlot(
  { vaultId, keys }: VaultConfig,
  identity: Secret<string>,
): Promise<RecoveredKey> {
  const recipient = await recipientOf(identity.reveal())
  const slot = keys?.recovery.find((each) => each.recipient === recipient)
  const context = contextOf(vaultId)
  const opened = slot && (await openSealed(identity.reveal(), slot.sealed))
  const content = opened?.ok === true ? Buffer.from(opened.content) : Buffer.alloc(0)
  const isKey =
    content.length === context.length + KEY_BYTES &&
    content.subarray(0, context.length).equals(context)
  if (slot !== undefined && isKey) {
    return { slot, dataKey: new Secret(content.subarray(context.length)) }
  }
  throw new VaultError(
    'vault_wrong_recovery_key',
    'no recovery key of this vault is of that identity',
    {
      hint: 'svc recovery list shows the fingerprints of the recovery keys; a removed one opens nothing',
    },
  )
}
