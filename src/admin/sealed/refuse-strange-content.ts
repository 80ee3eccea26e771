import { UserError } from '../../platform/errors.ts'
import type { CargoPin } from '../../sealing/recipients/recipient-pins.ts'

/** The file that the hub hands out for sealing again; svc computes the digest from the bytes, and does not take the hub's. */
export interface OfferedContent extends CargoPin {
  readonly cargoId: string
}

/**
 * Throws a UserError unless it is what this operator sealed for the carga, or vouches for: a hub could hand out what
 * was sealed for another carga, which the same escrow opens. docs/protocol.md SEA.
 */
export function refuseStrangeContent(
  { cargoId, versao, sha256 }: OfferedContent,
  known: CargoPin | undefined,
  accepted: string | undefined,
): void {
  const offered = `version ${versao} with SHA-256 ${sha256}`
  if (accepted !== undefined) {
    if (accepted === sha256) return
    throw new UserError('content_unknown', `the hub hands out ${offered}, not ${accepted}`)
  }
  if (known === undefined) {
    throw new UserError(
      'content_new',
      `this machine has not sealed load ${cargoId}: the hub hands out ${offered}`,
      {
        hint: `compare with the recipients.json of the person who sealed it, then repeat with --accept-content ${sha256}`,
      },
    )
  }
  if (known.sha256 === sha256) return
  throw new UserError(
    'content_changed',
    `what the hub hands out for load ${cargoId} is not what this machine sealed for it: ${offered}, it was version ${known.versao} with ${known.sha256}`,
    {
      hint: `if somebody else has updated it, compare with their recipients.json, then repeat with --accept-content ${sha256}`,
    },
  )
}
