/** The end of a sentence about something that was sent to an agent. */
export function whenTold({ online }: { readonly online: boolean }): string {
  return online ? '; it is online' : ' as soon as it is back: it is offline'
}
