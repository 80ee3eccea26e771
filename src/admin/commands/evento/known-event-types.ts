// A type of event that nobody knows is a slip, unless the log has it: agents may send types of their own.

import { UserError } from '../../../platform/errors.ts'
import { didYouMean } from '../../../platform/near-matches.ts'
import { isKnownEventType, KNOWN_EVENT_TYPES } from '../../../protocol/admin/known-event-types.ts'
import type { AdminOperations } from '../../../protocol/admin/operations.ts'
import { isEventType } from '../../../protocol/identifiers.ts'

/** docs/protocol.md CLI-60. */
export async function requireKnownTypes(
  { listEntries }: Pick<AdminOperations, 'listEntries'>,
  types: readonly string[],
  otherwise: string,
): Promise<void> {
  for (const type of types) {
    if (!isEventType(type)) {
      throw new UserError('tipo_invalid', `${type} is not a type of event`, { hint: otherwise })
    }
    if (await isKnownEventType(listEntries, type)) continue
    throw new UserError('tipo_unknown', `--type: no event of the type ${type} is known`, {
      hint: didYouMean(type, KNOWN_EVENT_TYPES) ?? otherwise,
    })
  }
}
