import type { AdminOperations } from '../../../protocol/admin/operations.ts'
import { requireFeature } from '../require-feature.ts'

export interface Labelled {
  readonly labels?: Readonly<Record<string, string>>
}

/** An older hub ignores the field that it does not know. */
export async function requireLabels(
  operations: Pick<AdminOperations, 'showFeatures'>,
  { labels }: Labelled,
): Promise<void> {
  if (labels === undefined) return
  await requireFeature(operations, 'labels', 'it would make a token without labels')
}
