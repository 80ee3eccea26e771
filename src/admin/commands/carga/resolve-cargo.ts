import { isUuid } from '../../../protocol/identifiers.ts'
import type { CommandContext } from '../command-context.ts'

/** What is sealed is sealed for one carga, whatever has its name a moment later: from here on it is known by its id. */
export async function resolveCargo(context: CommandContext, wanted: string): Promise<string> {
  if (isUuid(wanted)) return wanted
  const { id } = await context.withAdmin(({ operations }) =>
    operations.showCargo({ carga: wanted }),
  )
  return id
}
