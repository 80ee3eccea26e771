// oxlint-disable-next-line no-control-regex -- they are what this is about
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g

/** Text that others had a hand in, for a terminal: nothing in it moves the cursor, or says what was not said. */
export function printable(text: string): string {
  return text.replace(CONTROLS, '\ufffd')
}
