import { UserError } from '../../../platform/errors.ts'
import type { AdminOperations, AdminReplies } from '../../../protocol/admin/operations.ts'

export type Range = Parameters<AdminOperations['showRangeProof']>[0]
export type RangeProof = AdminReplies['showRangeProof']

/** What proves a range of entries: docs/protocol.md API-80. */
export async function showRangeProof(
  operations: AdminOperations,
  range: Range,
): Promise<RangeProof> {
  try {
    return await operations.showRangeProof(range)
  } catch (error) {
    if (!(error instanceof UserError) || error.code !== 'route_not_found') throw error
    throw new UserError('hub_too_old', 'this hub is older than this svc: it signs no checkpoints', {
      hint: 'upgrade the hub; nothing was done',
    })
  }
}
