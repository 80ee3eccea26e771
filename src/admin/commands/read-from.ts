import type { SecretSource } from '../sealed/secret-source.ts'
import type { CommandContext } from './command-context.ts'

/** What `read` makes of the file of an option, `-` for standard input; undefined without the option. With the operator's rights. */
export async function readFrom<T>(
  { openSecret }: Pick<CommandContext, 'openSecret'>,
  name: string | undefined,
  read: (source: SecretSource) => Promise<T>,
): Promise<T | undefined> {
  if (name === undefined) return undefined
  const source = await openSecret(name)
  try {
    return await read(source)
  } finally {
    await source.close()
  }
}
