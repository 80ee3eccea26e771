import { UserError } from '../../../../platform/errors.ts'
import type { SecretSource } from '../../../sealed/secret-source.ts'

/** The text of the file of an option. */
export function readText(
  option: string,
  code: string,
  bytesMax: number,
): (source: SecretSource) => Promise<string> {
  return async (source) => {
    const content = await source.read(bytesMax)
    if (content !== undefined) return content.toString('utf8')
    throw new UserError(code, `${option}: ${source.name} has more than ${bytesMax} bytes`)
  }
}
