import { UserError } from '../../platform/errors.ts'
import type { AdminOperations } from '../../protocol/admin/operations.ts'

/** What a hub of another version would silently leave out. docs/protocol.md API-28. */
export async function requireFeature(
  { showFeatures }: Pick<AdminOperations, 'showFeatures'>,
  feature: string,
  consequence: string,
): Promise<void> {
  const { features } = await showFeatures({}).catch((error: unknown): { features: string[] } => {
    if (error instanceof UserError && error.code === 'route_not_found') return { features: [] }
    throw error
  })
  if (features.includes(feature)) return
  throw new UserError('hub_too_old', `this hub is older than this svc: ${consequence}`, {
    hint: 'upgrade the hub; nothing was done',
  })
}
