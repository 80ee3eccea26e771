// Root's side of an announced update: what the agent asks for is taken up with the agent's rights, once, and answered. docs/protocol.md UPD-26.

import { UserError } from '../../platform/errors.ts'
import { removeIfPresent, replaceFile } from '../../platform/files.ts'
import type { AgentPaths } from '../settings/paths.ts'
import { asOwnerOf, readBounded } from './as-owner.ts'
import {
  formatOutcome,
  parseRequest,
  REQUEST_BYTES_MAX,
  type UpdateOutcome,
  type UpdateRequest,
  updateOutcomePath,
  updateRequestPath,
} from './update-request.ts'

type Places = Pick<AgentPaths, 'dataDir' | 'stateDir'>

/** Undefined when nothing is asked for. The request is gone afterwards, also one that is none: that throws a UserError. */
export async function takeRequest({
  dataDir,
  stateDir,
}: Places): Promise<UpdateRequest | undefined> {
  const path = updateRequestPath(stateDir)
  const text = await asOwnerOf(dataDir, async () => {
    const read = readBounded(path, REQUEST_BYTES_MAX)
    await removeIfPresent(path)
    return read
  })
  if (text === undefined) return undefined
  const request = parseRequest(text)
  if (request !== undefined) return request
  throw new UserError('request_invalid', 'what the agent left is no request for a version', {
    hint: `it was ${JSON.stringify(text)}`,
  })
}

/** Before the agent is started again: it reads this then. */
export async function leaveOutcome(
  { dataDir, stateDir }: Places,
  outcome: UpdateOutcome,
): Promise<void> {
  await asOwnerOf(dataDir, () =>
    replaceFile(updateOutcomePath(stateDir), formatOutcome(outcome), 0o600),
  )
}
