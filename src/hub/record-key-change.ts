// The audit log tells of each change of the vault's keys. config.json changes first and says what changed, so that the program that opens the
// vault next, after a crash too, writes the entry that is missing. docs/protocol.md KEY-4, KEY-5.

import { SvcError } from '../platform/errors.ts'
import { HubEventType } from '../protocol/words.ts'
import { appendEntries } from './service/append-entries.ts'
import { hubAct } from './service/hub-acts.ts'
import type { Store } from './store/store.ts'
import type { KeyChange } from './vault/key-changes.ts'
import type { VaultConfig } from './vault/vault-config.ts'

export interface RecordingOptions {
  readonly now: Date
  /** Goes on with a config.json that is older than the log, and says so in it. */
  readonly acceptLoss?: boolean | undefined
}

/** Throws SvcError `vault_keys_older` when somebody has put an older config.json back. */
export async function recordKeyChange(
  store: Store,
  { keys }: VaultConfig,
  { now, acceptLoss = false }: RecordingOptions,
): Promise<void> {
  const recorded = await store.reader.findKeysGeneration()
  const generation = keys?.generation ?? 0
  if (generation === recorded) return
  if (generation < recorded && !acceptLoss) throw putBack(generation, recorded)
  const act =
    keys !== undefined && generation > recorded
      ? hubAct(now, keys.change.type, payloadOfChange(keys.change, generation))
      : hubAct(now, HubEventType.lossAccepted, {
          actor: 'admin',
          reason: `config.json has generation ${generation} of the keys, the vault had ${recorded}`,
        })
  await store.write(async (writer) => {
    await appendEntries(writer, [act])
    await writer.setKeysGeneration(generation)
  })
}

/** No secret; what opened the vault for the change, and which change of its keys it is. */
export function payloadOfChange(
  { at, recoveryKey, fingerprint }: KeyChange,
  generation: number,
): { readonly actor: string } & Readonly<Record<string, unknown>> {
  return {
    actor: 'admin',
    generation,
    changed_at: at.toISOString(),
    recovery_key: recoveryKey,
    fingerprint,
  }
}

function putBack(generation: number, recorded: number): SvcError {
  return new SvcError(
    'vault_keys_older',
    `config.json is older than the vault: it has generation ${generation} of the keys, the vault had ${recorded}`,
    {
      hint: 'put the newest config.json back, or run svc unseal --accept-loss to continue with this one; it may let in a key that was removed',
    },
  )
}
