// The address at which a browser on another machine ended, as a person pastes it. Pure. docs/protocol.md OID-33.

import {
  type Callback,
  CALLBACK_PATH,
  readCallback,
  type WantedCallback,
} from './judge-callback.ts'

/** A text says what is wrong with it. */
export function readPasted(pasted: string, { port, state }: WantedCallback): Callback | string {
  // A terminal may have broken it at its edge.
  const text = pasted.replaceAll(/\s/g, '')
  const url = URL.canParse(text) ? new URL(text) : undefined
  const begin = `http://127.0.0.1:${port}${CALLBACK_PATH}?`
  if (url === undefined || !url.href.startsWith(begin)) {
    return `that address does not begin with ${begin}`
  }
  return (
    readCallback(url.search.slice(1), state) ?? 'that address is of another sign-in, or not whole'
  )
}
