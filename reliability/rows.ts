// All rows.

import type { ReliabilityRow } from './row.ts'
import { abuse } from './rows/abuse.ts'
import { acknowledgedWrites } from './rows/acknowledged-writes.ts'
import { agentFiles } from './rows/agent-files.ts'
import { caOutage } from './rows/ca-outage.ts'
import { canaries } from './rows/canaries.ts'
import { clock } from './rows/clock.ts'
import { costlyHandshakes } from './rows/costly-handshakes.ts'
import { costlyRequests } from './rows/costly-requests.ts'
import { extremes } from './rows/extremes.ts'
import { fleetWideActs } from './rows/fleet-wide-acts.ts'
import { hostilePeers } from './rows/hostile-peers.ts'
import { logMutations } from './rows/log-mutations.ts'
import { killedMaintenance } from './rows/killed-maintenance.ts'
import { lostReplies } from './rows/lost-replies.ts'
import { oneTokenOneUse } from './rows/one-token-one-use.ts'
import { oneWriter } from './rows/one-writer.ts'
import { pipelining } from './rows/pipelining.ts'
import { refusedIdentities } from './rows/refused-identities.ts'
import { revocationIsFinal } from './rows/revocation-is-final.ts'
import { severalHubs } from './rows/several-hubs.ts'
import { storageFaults } from './rows/storage-faults.ts'
import { vault } from './rows/vault.ts'

/** By what they try: `npm test` runs each subject in a process of its own. */
export const ROWS_BY_SUBJECT = {
  vault: [acknowledgedWrites, storageFaults, killedMaintenance, oneWriter, vault, logMutations],
  agents: [lostReplies, agentFiles, clock, hostilePeers],
  identities: [oneTokenOneUse, caOutage, refusedIdentities, revocationIsFinal, severalHubs],
  load: [abuse, pipelining, costlyHandshakes, costlyRequests, fleetWideActs, extremes, canaries],
} as const satisfies Readonly<Record<string, readonly ReliabilityRow[]>>

export const ROWS: readonly ReliabilityRow[] = Object.values(ROWS_BY_SUBJECT).flat()
