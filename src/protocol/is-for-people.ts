const PEOPLE_SCHEMES = ['slack+', 'teams+', 'smtp:', 'smtps:', 'smtp+tls:']

/** Whether people read what goes to a webhook of this URL, and not programs: by its scheme. docs/protocol.md WHK-26. */
export function isForPeople(url: string): boolean {
  return PEOPLE_SCHEMES.some((scheme) => url.startsWith(scheme))
}
