import type { AdminOperations } from '../../src/protocol/admin/operations.ts'
import type { AdminPasskey } from '../../src/protocol/admin/passkeys.ts'

const PASSKEY: AdminPasskey = {
  id: '7d1c0e5a9b3f2468',
  name: 'ana@example.org',
  label: 'YubiKey 5',
  created_at: '2026-11-21T10:00:00.000Z',
  last_used_at: '2026-11-21T10:10:00.000Z',
}

type Passkeys =
  | 'prepareConfirmation'
  | 'preparePasskey'
  | 'registerPasskey'
  | 'listPasskeys'
  | 'removePasskeys'

export const PASSKEY_OPERATIONS: Pick<AdminOperations, Passkeys> = {
  prepareConfirmation: async () => ({ options: {} }),
  preparePasskey: async () => ({ options: {} }),
  registerPasskey: async () => PASSKEY,
  listPasskeys: async ({ name = PASSKEY.name }) => ({
    passkeys: name === PASSKEY.name ? [PASSKEY] : [],
    next: null,
    registration: 'off',
  }),
  removePasskeys: async ({ name }) => ({ passkeys: [{ ...PASSKEY, name }] }),
}
