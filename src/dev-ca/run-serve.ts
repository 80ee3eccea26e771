import { systemClock } from '../platform/clock.ts'
import { errnoCode, UserError } from '../platform/errors.ts'
import { createLoggingFromEnvironment } from '../platform/logger.ts'
import { writeOut } from '../platform/standard-output.ts'
import { serveDevCa } from './serve.ts'

/** Serves until SIGTERM or SIGINT; not when nobody can be told where. */
export async function runServe(
  directory: string,
  listen: string | undefined,
  env: Readonly<Record<string, string | undefined>>,
): Promise<void> {
  const logger = (await createLoggingFromEnvironment(env)).forModule('ca')
  const stop = new AbortController()
  process.once('SIGTERM', () => stop.abort())
  process.once('SIGINT', () => stop.abort())
  try {
    const ca = await serveDevCa({
      directory,
      listen,
      clock: systemClock,
      logger,
      signal: stop.signal,
    })
    try {
      await writeOut(`listening ${ca.url}\n`)
    } catch (error) {
      stop.abort()
      await ca.ended
      throw error
    }
    await ca.ended
  } catch (error) {
    throw errnoCode(error) === 'EADDRINUSE'
      ? new UserError('address_in_use', 'Address already in use', { cause: error })
      : error
  }
}
