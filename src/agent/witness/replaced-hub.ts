// A hub that was replaced, by its standby or by a restore elsewhere, and answers all the same: it shows the log in an earlier epoch than
// the one that the agent has followed it to. What it says is of a vault that nobody keeps up any more. docs/protocol.md STB-20.

import { isEarlierEpoch } from '../../audit/log-origin.ts'
import { parseVerifierKey } from '../../audit/signed-note.ts'
import { HubUnreachableError } from '../hub/request.ts'
import { type LogWitness, openSigned, renamed } from './log-witness.ts'

export class ReplacedHubError extends HubUnreachableError {
  override name = 'ReplacedHubError'
  constructor(shown: string, followed: string) {
    super(
      `a hub that was replaced answered: it shows the log ${shown}, the agent has followed the log to ${followed}`,
      { hint: 'stop the old hub, or have the name of the hub lead to the new one only' },
    )
  }
}

/** Only what the key of the log has signed counts: anything else is looked at as evidence (CHN-24). */
export function findReplacedHub(
  witness: LogWitness | undefined,
  shown: string,
): ReplacedHubError | undefined {
  const [origin = ''] = shown.split('\n', 1)
  const [name = ''] = witness?.key.split('+', 1) ?? []
  if (witness === undefined || origin === name || !isEarlierEpoch(origin, name)) return undefined
  const verifier = parseVerifierKey(witness.key)
  const isOurs =
    verifier !== undefined && openSigned(shown, renamed(verifier, origin)) !== undefined
  return isOurs ? new ReplacedHubError(origin, name) : undefined
}
