internal import CUv

/// What an errno value means, in English whatever the host's locale says.
func systemText(_ code: Int32) -> String {
    guard let text = iv_error_text(code) else { return "error \(code)" }
    return String(cString: text)
}
