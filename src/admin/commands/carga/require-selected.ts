import type { AdminOperations } from '../../../protocol/admin/operations.ts'
import { requireFeature } from '../require-feature.ts'

/** An older hub would make a carga for nobody, or for the hosts of today. docs/protocol.md API-28. */
export async function requireSelectedCargoes(
  operations: Pick<AdminOperations, 'showFeatures'>,
  where: string | undefined,
): Promise<{ readonly where?: string }> {
  if (where === undefined) return {}
  await requireFeature(operations, 'selected_cargas', 'no load belongs to a selector there')
  return { where }
}
