// A type of event that nobody knows is a slip, unless the log has it: agents may send types of their own.

import { UserError } from '../../../platform/errors.ts'
import { didYouMean } from '../../../platform/near-matches.ts'
import type { AdminOperations } from '../../../protocol/admin/operations.ts'
import { isEventType } from '../../../protocol/identifiers.ts'
import { EventType, HubEventType } from '../../../protocol/words.ts'
import { readEntryPages } from './read-entries.ts'

const KNOWN: readonly string[] = [...Object.values(EventType), ...Object.values(HubEventType)]

/** Looks into the log only for types that are unknown here. docs/protocol.md CLI-60. */
export async function requireKnownTypes(
  { listEntries }: Pick<AdminOperations, 'listEntries'>,
  types: readonly string[],
  otherwise: string,
): Promise<void> {
  for (const type of types) {
    if (KNOWN.includes(type)) continue
    if (!isEventType(type)) {
      throw new UserError('tipo_invalid', `${type} is not a type of event`, { hint: otherwise })
    }
    if (await hasType({ listEntries }, type)) continue
    throw new UserError('tipo_unknown', `--type: no event of the type ${type} is known`, {
      hint: didYouMean(type, KNOWN) ?? otherwise,
    })
  }
}

async function hasType(
  operations: Pick<AdminOperations, 'listEntries'>,
  type: string,
): Promise<boolean> {
  for await (const page of readEntryPages(operations, { tipo: type }, { limit: 1 })) {
    if (page.length > 0) return true
  }
  return false
}
