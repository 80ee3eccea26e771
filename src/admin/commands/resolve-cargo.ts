import type { CommandContext } from './command-context.ts'

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** What is sealed is sealed for one carga, whatever has its name a moment later: from here on it is known by its id. */
export async function resolveCargo(context: CommandContext, wanted: string): Promise<string> {
  if (UUID.test(wanted)) return wanted
  const { id } = await context.withAdmin(({ operations }) =>
    operations.showCargo({ carga: wanted }),
  )
  return id
}
