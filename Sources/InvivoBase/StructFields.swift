// The fields of every struct that begins with its struct_size.
// Written by scripts/generate from the other headers; do not edit.
public import CInvivo

extension invivo_callable_options: SizedStruct {
    public static let fieldRanges: [Range<Int>] = [
        fieldRange(of: \invivo_callable_options.struct_size),
        fieldRange(of: \invivo_callable_options.name),
        fieldRange(of: \invivo_callable_options.invoke),
        fieldRange(of: \invivo_callable_options.user_data),
        fieldRange(of: \invivo_callable_options.destroy),
    ]
}

extension invivo_property: SizedStruct {
    public static let fieldRanges: [Range<Int>] = [
        fieldRange(of: \invivo_property.struct_size),
        fieldRange(of: \invivo_property.name),
        fieldRange(of: \invivo_property.kind),
        fieldRange(of: \invivo_property.flags),
        fieldRange(of: \invivo_property.offset),
        fieldRange(of: \invivo_property.size),
        fieldRange(of: \invivo_property.initial),
        fieldRange(of: \invivo_property.min),
        fieldRange(of: \invivo_property.max),
        fieldRange(of: \invivo_property.step),
        fieldRange(of: \invivo_property.initial_text),
        fieldRange(of: \invivo_property.unit),
        fieldRange(of: \invivo_property.text),
        fieldRange(of: \invivo_property.choices),
        fieldRange(of: \invivo_property.choice_count),
        fieldRange(of: \invivo_property.was),
        fieldRange(of: \invivo_property.was_count),
        fieldRange(of: \invivo_property.fields),
        fieldRange(of: \invivo_property.field_count),
        fieldRange(of: \invivo_property.get),
        fieldRange(of: \invivo_property.set),
        fieldRange(of: \invivo_property.user_data),
        fieldRange(of: \invivo_property.initial_value),
        fieldRange(of: \invivo_property.capture),
        fieldRange(of: \invivo_property.restore),
        fieldRange(of: \invivo_property.forget),
        fieldRange(of: \invivo_property.reserved),
        fieldRange(of: \invivo_property.codec),
        fieldRange(of: \invivo_property.reserved_end),
        fieldRange(of: \invivo_property.verify),
    ]
}

extension invivo_method: SizedStruct {
    public static let fieldRanges: [Range<Int>] = [
        fieldRange(of: \invivo_method.struct_size),
        fieldRange(of: \invivo_method.name),
        fieldRange(of: \invivo_method.text),
        fieldRange(of: \invivo_method.parameters),
        fieldRange(of: \invivo_method.parameter_count),
        fieldRange(of: \invivo_method.result),
        fieldRange(of: \invivo_method.call),
        fieldRange(of: \invivo_method.user_data),
    ]
}

extension invivo_build: SizedStruct {
    public static let fieldRanges: [Range<Int>] = [
        fieldRange(of: \invivo_build.struct_size),
        fieldRange(of: \invivo_build.runtime),
        fieldRange(of: \invivo_build.key),
        fieldRange(of: \invivo_build.type),
        fieldRange(of: \invivo_build.asker),
        fieldRange(of: \invivo_build.given),
        fieldRange(of: \invivo_build.flags),
        fieldRange(of: \invivo_build.reserved),
        fieldRange(of: \invivo_build.former),
        fieldRange(of: \invivo_build.former_instance),
    ]
}

extension invivo_type_options: SizedStruct {
    public static let fieldRanges: [Range<Int>] = [
        fieldRange(of: \invivo_type_options.struct_size),
        fieldRange(of: \invivo_type_options.name),
        fieldRange(of: \invivo_type_options.text),
        fieldRange(of: \invivo_type_options.supertypes),
        fieldRange(of: \invivo_type_options.supertype_count),
        fieldRange(of: \invivo_type_options.concurrency),
        fieldRange(of: \invivo_type_options.reserved),
        fieldRange(of: \invivo_type_options.domain),
        fieldRange(of: \invivo_type_options.size),
        fieldRange(of: \invivo_type_options.alignment),
        fieldRange(of: \invivo_type_options.`init`),
        fieldRange(of: \invivo_type_options.deinit),
        fieldRange(of: \invivo_type_options.make),
        fieldRange(of: \invivo_type_options.release),
        fieldRange(of: \invivo_type_options.block_size),
        fieldRange(of: \invivo_type_options.parameters),
        fieldRange(of: \invivo_type_options.parameter_count),
        fieldRange(of: \invivo_type_options.properties),
        fieldRange(of: \invivo_type_options.property_count),
        fieldRange(of: \invivo_type_options.methods),
        fieldRange(of: \invivo_type_options.method_count),
        fieldRange(of: \invivo_type_options.start),
        fieldRange(of: \invivo_type_options.stop),
        fieldRange(of: \invivo_type_options.user_data),
        fieldRange(of: \invivo_type_options.destroy),
        fieldRange(of: \invivo_type_options.will_inject),
        fieldRange(of: \invivo_type_options.did_inject),
        fieldRange(of: \invivo_type_options.weak_make),
        fieldRange(of: \invivo_type_options.weak_load),
        fieldRange(of: \invivo_type_options.weak_free),
        fieldRange(of: \invivo_type_options.block_initial),
        fieldRange(of: \invivo_type_options.needs),
        fieldRange(of: \invivo_type_options.need_count),
        fieldRange(of: \invivo_type_options.child),
        fieldRange(of: \invivo_type_options.key_name),
        fieldRange(of: \invivo_type_options.prepare),
        fieldRange(of: \invivo_type_options.take_runtime),
        fieldRange(of: \invivo_type_options.count_references),
        fieldRange(of: \invivo_type_options.lookup_name),
        fieldRange(of: \invivo_type_options.setup),
        fieldRange(of: \invivo_type_options.teardown),
        fieldRange(of: \invivo_type_options.refresh),
        fieldRange(of: \invivo_type_options.finalize),
        fieldRange(of: \invivo_type_options.keeps_children),
        fieldRange(of: \invivo_type_options.reserved_end),
        fieldRange(of: \invivo_type_options.parent),
    ]
}

extension invivo_log_entry: SizedStruct {
    public static let fieldRanges: [Range<Int>] = [
        fieldRange(of: \invivo_log_entry.struct_size),
        fieldRange(of: \invivo_log_entry.level),
        fieldRange(of: \invivo_log_entry.reserved),
        fieldRange(of: \invivo_log_entry.message),
        fieldRange(of: \invivo_log_entry.path),
        fieldRange(of: \invivo_log_entry.fields),
        fieldRange(of: \invivo_log_entry.field_count),
    ]
}

extension invivo_runtime_options: SizedStruct {
    public static let fieldRanges: [Range<Int>] = [
        fieldRange(of: \invivo_runtime_options.struct_size),
        fieldRange(of: \invivo_runtime_options.name),
        fieldRange(of: \invivo_runtime_options.default_domain),
        fieldRange(of: \invivo_runtime_options.flags),
        fieldRange(of: \invivo_runtime_options.quiet_ms),
        fieldRange(of: \invivo_runtime_options.settle_max_ms),
        fieldRange(of: \invivo_runtime_options.commit_timeout_ms),
        fieldRange(of: \invivo_runtime_options.log_level),
        fieldRange(of: \invivo_runtime_options.log),
        fieldRange(of: \invivo_runtime_options.log_user_data),
        fieldRange(of: \invivo_runtime_options.log_destroy),
        fieldRange(of: \invivo_runtime_options.max_document_bytes),
        fieldRange(of: \invivo_runtime_options.start_timeout_ms),
        fieldRange(of: \invivo_runtime_options.stop_timeout_ms),
        fieldRange(of: \invivo_runtime_options.stop_grace_ms),
        fieldRange(of: \invivo_runtime_options.load_timeout_ms),
        fieldRange(of: \invivo_runtime_options.max_document_nodes),
        fieldRange(of: \invivo_runtime_options.max_each_entries),
        fieldRange(of: \invivo_runtime_options.pin_max_age_ms),
        fieldRange(of: \invivo_runtime_options.history),
        fieldRange(of: \invivo_runtime_options.rule_timeout_ms),
        fieldRange(of: \invivo_runtime_options.revision),
        fieldRange(of: \invivo_runtime_options.environment_prefix),
        fieldRange(of: \invivo_runtime_options.document_roots),
        fieldRange(of: \invivo_runtime_options.document_root_count),
        fieldRange(of: \invivo_runtime_options.ramp_tick_ms),
        fieldRange(of: \invivo_runtime_options.end_timeout_ms),
    ]
}

extension invivo_domain_options: SizedStruct {
    public static let fieldRanges: [Range<Int>] = [
        fieldRange(of: \invivo_domain_options.struct_size),
        fieldRange(of: \invivo_domain_options.name),
        fieldRange(of: \invivo_domain_options.flags),
        fieldRange(of: \invivo_domain_options.reserved),
        fieldRange(of: \invivo_domain_options.post),
        fieldRange(of: \invivo_domain_options.user_data),
        fieldRange(of: \invivo_domain_options.destroy),
        fieldRange(of: \invivo_domain_options.is_current),
        fieldRange(of: \invivo_domain_options.begin),
        fieldRange(of: \invivo_domain_options.end),
    ]
}

extension invivo_runtime_info: SizedStruct {
    public static let fieldRanges: [Range<Int>] = [
        fieldRange(of: \invivo_runtime_info.struct_size),
        fieldRange(of: \invivo_runtime_info.generation),
        fieldRange(of: \invivo_runtime_info.reloads),
        fieldRange(of: \invivo_runtime_info.failures),
        fieldRange(of: \invivo_runtime_info.definitions),
        fieldRange(of: \invivo_runtime_info.objects),
        fieldRange(of: \invivo_runtime_info.leases),
        fieldRange(of: \invivo_runtime_info.targets),
        fieldRange(of: \invivo_runtime_info.sources),
        fieldRange(of: \invivo_runtime_info.retiring),
        fieldRange(of: \invivo_runtime_info.waiting_jobs),
        fieldRange(of: \invivo_runtime_info.waiting_since_ns),
        fieldRange(of: \invivo_runtime_info.overflows),
        fieldRange(of: \invivo_runtime_info.rescans),
        fieldRange(of: \invivo_runtime_info.unannounced),
    ]
}

extension invivo_live_counts: SizedStruct {
    public static let fieldRanges: [Range<Int>] = [
        fieldRange(of: \invivo_live_counts.struct_size),
        fieldRange(of: \invivo_live_counts.runtimes),
        fieldRange(of: \invivo_live_counts.objects),
        fieldRange(of: \invivo_live_counts.callables),
        fieldRange(of: \invivo_live_counts.errors),
        fieldRange(of: \invivo_live_counts.graphs),
        fieldRange(of: \invivo_live_counts.blocks),
        fieldRange(of: \invivo_live_counts.threads),
        fieldRange(of: \invivo_live_counts.descriptors),
        fieldRange(of: \invivo_live_counts.contexts),
    ]
}

extension invivo_definition: SizedStruct {
    public static let fieldRanges: [Range<Int>] = [
        fieldRange(of: \invivo_definition.struct_size),
        fieldRange(of: \invivo_definition.key),
        fieldRange(of: \invivo_definition.scope),
        fieldRange(of: \invivo_definition.flags),
        fieldRange(of: \invivo_definition.type),
        fieldRange(of: \invivo_definition.factory),
        fieldRange(of: \invivo_definition.user_data),
        fieldRange(of: \invivo_definition.destroy),
        fieldRange(of: \invivo_definition.initializer),
        fieldRange(of: \invivo_definition.initializer_count),
        fieldRange(of: \invivo_definition.properties),
        fieldRange(of: \invivo_definition.property_count),
        fieldRange(of: \invivo_definition.alias),
        fieldRange(of: \invivo_definition.file),
        fieldRange(of: \invivo_definition.line),
        fieldRange(of: \invivo_definition.column),
        fieldRange(of: \invivo_definition.parent),
        fieldRange(of: \invivo_definition.parameters),
        fieldRange(of: \invivo_definition.parameter_count),
        fieldRange(of: \invivo_definition.methods),
        fieldRange(of: \invivo_definition.method_count),
        fieldRange(of: \invivo_definition.before),
        fieldRange(of: \invivo_definition.after),
        fieldRange(of: \invivo_definition.after_all),
        fieldRange(of: \invivo_definition.before_count),
        fieldRange(of: \invivo_definition.after_count),
        fieldRange(of: \invivo_definition.after_all_count),
        fieldRange(of: \invivo_definition.maker_method),
        fieldRange(of: \invivo_definition.maker),
        fieldRange(of: \invivo_definition.maker_count),
        fieldRange(of: \invivo_definition.inject),
        fieldRange(of: \invivo_definition.rank),
        fieldRange(of: \invivo_definition.reserved),
        fieldRange(of: \invivo_definition.block_initial),
        fieldRange(of: \invivo_definition.constant),
        fieldRange(of: \invivo_definition.type_name),
        fieldRange(of: \invivo_definition.chooser),
        fieldRange(of: \invivo_definition.options),
        fieldRange(of: \invivo_definition.option_count),
        fieldRange(of: \invivo_definition.start_timeout_ms),
        fieldRange(of: \invivo_definition.stop_timeout_ms),
        fieldRange(of: \invivo_definition.each),
        fieldRange(of: \invivo_definition.scope_name),
        fieldRange(of: \invivo_definition.generic),
        fieldRange(of: \invivo_definition.defaults),
        fieldRange(of: \invivo_definition.owner),
        fieldRange(of: \invivo_definition.on_change),
        fieldRange(of: \invivo_definition.reserved2),
        fieldRange(of: \invivo_definition.on_change_reason),
        fieldRange(of: \invivo_definition.spec_key),
    ]
}

extension invivo_processor: SizedStruct {
    public static let fieldRanges: [Range<Int>] = [
        fieldRange(of: \invivo_processor.struct_size),
        fieldRange(of: \invivo_processor.name),
        fieldRange(of: \invivo_processor.key),
        fieldRange(of: \invivo_processor.type),
        fieldRange(of: \invivo_processor.priority),
        fieldRange(of: \invivo_processor.reserved),
        fieldRange(of: \invivo_processor.process),
        fieldRange(of: \invivo_processor.decorate),
        fieldRange(of: \invivo_processor.component),
        fieldRange(of: \invivo_processor.method),
        fieldRange(of: \invivo_processor.user_data),
        fieldRange(of: \invivo_processor.destroy),
    ]
}

extension invivo_block_options: SizedStruct {
    public static let fieldRanges: [Range<Int>] = [
        fieldRange(of: \invivo_block_options.struct_size),
        fieldRange(of: \invivo_block_options.type_name),
        fieldRange(of: \invivo_block_options.size),
        fieldRange(of: \invivo_block_options.properties),
        fieldRange(of: \invivo_block_options.property_count),
        fieldRange(of: \invivo_block_options.initial),
    ]
}

extension invivo_tree: SizedStruct {
    public static let fieldRanges: [Range<Int>] = [
        fieldRange(of: \invivo_tree.struct_size),
        fieldRange(of: \invivo_tree.key),
        fieldRange(of: \invivo_tree.flags),
        fieldRange(of: \invivo_tree.reserved),
        fieldRange(of: \invivo_tree.child),
        fieldRange(of: \invivo_tree.key_name),
        fieldRange(of: \invivo_tree.is_foreign),
        fieldRange(of: \invivo_tree.user_data),
    ]
}

extension invivo_assembly: SizedStruct {
    public static let fieldRanges: [Range<Int>] = [
        fieldRange(of: \invivo_assembly.struct_size),
        fieldRange(of: \invivo_assembly.name),
        fieldRange(of: \invivo_assembly.definitions),
        fieldRange(of: \invivo_assembly.definition_count),
        fieldRange(of: \invivo_assembly.collaborators),
        fieldRange(of: \invivo_assembly.collaborator_count),
        fieldRange(of: \invivo_assembly.base),
        fieldRange(of: \invivo_assembly.supertypes),
        fieldRange(of: \invivo_assembly.supertype_count),
        fieldRange(of: \invivo_assembly.flags),
        fieldRange(of: \invivo_assembly.line),
        fieldRange(of: \invivo_assembly.column),
        fieldRange(of: \invivo_assembly.reserved),
        fieldRange(of: \invivo_assembly.file),
        fieldRange(of: \invivo_assembly.secrets),
        fieldRange(of: \invivo_assembly.secret_count),
    ]
}

extension invivo_activate_options: SizedStruct {
    public static let fieldRanges: [Range<Int>] = [
        fieldRange(of: \invivo_activate_options.struct_size),
        fieldRange(of: \invivo_activate_options.flags),
        fieldRange(of: \invivo_activate_options.reserved),
    ]
}

extension invivo_pool_options: SizedStruct {
    public static let fieldRanges: [Range<Int>] = [
        fieldRange(of: \invivo_pool_options.struct_size),
        fieldRange(of: \invivo_pool_options.name),
        fieldRange(of: \invivo_pool_options.make),
        fieldRange(of: \invivo_pool_options.user_data),
        fieldRange(of: \invivo_pool_options.destroy),
    ]
}

extension invivo_scope_options: SizedStruct {
    public static let fieldRanges: [Range<Int>] = [
        fieldRange(of: \invivo_scope_options.struct_size),
        fieldRange(of: \invivo_scope_options.name),
        fieldRange(of: \invivo_scope_options.find),
        fieldRange(of: \invivo_scope_options.keep),
        fieldRange(of: \invivo_scope_options.drop),
        fieldRange(of: \invivo_scope_options.user_data),
        fieldRange(of: \invivo_scope_options.destroy),
    ]
}

extension invivo_source_options: SizedStruct {
    public static let fieldRanges: [Range<Int>] = [
        fieldRange(of: \invivo_source_options.struct_size),
        fieldRange(of: \invivo_source_options.path),
        fieldRange(of: \invivo_source_options.name),
        fieldRange(of: \invivo_source_options.flags),
        fieldRange(of: \invivo_source_options.reserved),
        fieldRange(of: \invivo_source_options.text),
        fieldRange(of: \invivo_source_options.length),
    ]
}

extension invivo_progress: SizedStruct {
    public static let fieldRanges: [Range<Int>] = [
        fieldRange(of: \invivo_progress.struct_size),
        fieldRange(of: \invivo_progress.phase),
        fieldRange(of: \invivo_progress.reserved),
        fieldRange(of: \invivo_progress.reload),
        fieldRange(of: \invivo_progress.generation),
        fieldRange(of: \invivo_progress.cause),
        fieldRange(of: \invivo_progress.error),
    ]
}

extension invivo_observer_options: SizedStruct {
    public static let fieldRanges: [Range<Int>] = [
        fieldRange(of: \invivo_observer_options.struct_size),
        fieldRange(of: \invivo_observer_options.reloaded),
        fieldRange(of: \invivo_observer_options.user_data),
        fieldRange(of: \invivo_observer_options.destroy),
        fieldRange(of: \invivo_observer_options.domain),
        fieldRange(of: \invivo_observer_options.publishing),
        fieldRange(of: \invivo_observer_options.key),
        fieldRange(of: \invivo_observer_options.type),
        fieldRange(of: \invivo_observer_options.object),
        fieldRange(of: \invivo_observer_options.ready),
        fieldRange(of: \invivo_observer_options.progress),
    ]
}

extension invivo_config_observer_options: SizedStruct {
    public static let fieldRanges: [Range<Int>] = [
        fieldRange(of: \invivo_config_observer_options.struct_size),
        fieldRange(of: \invivo_config_observer_options.changed),
        fieldRange(of: \invivo_config_observer_options.user_data),
        fieldRange(of: \invivo_config_observer_options.destroy),
        fieldRange(of: \invivo_config_observer_options.domain),
    ]
}

extension invivo_converter_options: SizedStruct {
    public static let fieldRanges: [Range<Int>] = [
        fieldRange(of: \invivo_converter_options.struct_size),
        fieldRange(of: \invivo_converter_options.name),
        fieldRange(of: \invivo_converter_options.convert),
        fieldRange(of: \invivo_converter_options.user_data),
        fieldRange(of: \invivo_converter_options.destroy),
        fieldRange(of: \invivo_converter_options.read),
    ]
}

extension invivo_app_options: SizedStruct {
    public static let fieldRanges: [Range<Int>] = [
        fieldRange(of: \invivo_app_options.struct_size),
        fieldRange(of: \invivo_app_options.manifest),
        fieldRange(of: \invivo_app_options.runtime),
        fieldRange(of: \invivo_app_options.flags),
        fieldRange(of: \invivo_app_options.reserved),
        fieldRange(of: \invivo_app_options.load_module),
        fieldRange(of: \invivo_app_options.user_data),
        fieldRange(of: \invivo_app_options.assemblies),
    ]
}

extension invivo_callbacks: SizedStruct {
    public static let fieldRanges: [Range<Int>] = [
        fieldRange(of: \invivo_callbacks.struct_size),
        fieldRange(of: \invivo_callbacks.make),
        fieldRange(of: \invivo_callbacks.release),
        fieldRange(of: \invivo_callbacks.start),
        fieldRange(of: \invivo_callbacks.stop),
        fieldRange(of: \invivo_callbacks.get),
        fieldRange(of: \invivo_callbacks.set),
        fieldRange(of: \invivo_callbacks.call),
        fieldRange(of: \invivo_callbacks.factory),
        fieldRange(of: \invivo_callbacks.invoke),
        fieldRange(of: \invivo_callbacks.post),
        fieldRange(of: \invivo_callbacks.reloaded),
        fieldRange(of: \invivo_callbacks.log),
        fieldRange(of: \invivo_callbacks.destroy),
        fieldRange(of: \invivo_callbacks.capture),
        fieldRange(of: \invivo_callbacks.restore),
        fieldRange(of: \invivo_callbacks.forget),
        fieldRange(of: \invivo_callbacks.will_inject),
        fieldRange(of: \invivo_callbacks.did_inject),
        fieldRange(of: \invivo_callbacks.weak_make),
        fieldRange(of: \invivo_callbacks.weak_load),
        fieldRange(of: \invivo_callbacks.weak_free),
        fieldRange(of: \invivo_callbacks.inject),
        fieldRange(of: \invivo_callbacks.child),
        fieldRange(of: \invivo_callbacks.key_name),
        fieldRange(of: \invivo_callbacks.process),
        fieldRange(of: \invivo_callbacks.decorate),
        fieldRange(of: \invivo_callbacks.resolved),
        fieldRange(of: \invivo_callbacks.prepare),
        fieldRange(of: \invivo_callbacks.changed),
        fieldRange(of: \invivo_callbacks.convert),
        fieldRange(of: \invivo_callbacks.pool_make),
        fieldRange(of: \invivo_callbacks.scope_find),
        fieldRange(of: \invivo_callbacks.scope_keep),
        fieldRange(of: \invivo_callbacks.scope_drop),
        fieldRange(of: \invivo_callbacks.take_runtime),
        fieldRange(of: \invivo_callbacks.publishing),
        fieldRange(of: \invivo_callbacks.count_references),
        fieldRange(of: \invivo_callbacks.cell),
        fieldRange(of: \invivo_callbacks.load_module),
        fieldRange(of: \invivo_callbacks.assemblies),
        fieldRange(of: \invivo_callbacks.tree_child),
        fieldRange(of: \invivo_callbacks.tree_key_name),
        fieldRange(of: \invivo_callbacks.tree_is_foreign),
        fieldRange(of: \invivo_callbacks.read),
        fieldRange(of: \invivo_callbacks.check),
        fieldRange(of: \invivo_callbacks.setup),
        fieldRange(of: \invivo_callbacks.teardown),
        fieldRange(of: \invivo_callbacks.refresh),
        fieldRange(of: \invivo_callbacks.finalize),
        fieldRange(of: \invivo_callbacks.undo),
        fieldRange(of: \invivo_callbacks.begin),
        fieldRange(of: \invivo_callbacks.end),
        fieldRange(of: \invivo_callbacks.ready),
        fieldRange(of: \invivo_callbacks.progress),
        fieldRange(of: \invivo_callbacks.trait_check),
        fieldRange(of: \invivo_callbacks.layers),
        fieldRange(of: \invivo_callbacks.apply),
        fieldRange(of: \invivo_callbacks.revert),
        fieldRange(of: \invivo_callbacks.create),
        fieldRange(of: \invivo_callbacks.bind),
        fieldRange(of: \invivo_callbacks.verify),
        fieldRange(of: \invivo_callbacks.context_changed),
        fieldRange(of: \invivo_callbacks.parent),
    ]
}

extension invivo_context_kind: SizedStruct {
    public static let fieldRanges: [Range<Int>] = [
        fieldRange(of: \invivo_context_kind.struct_size),
        fieldRange(of: \invivo_context_kind.name),
        fieldRange(of: \invivo_context_kind.policy),
        fieldRange(of: \invivo_context_kind.reserved),
        fieldRange(of: \invivo_context_kind.provides),
        fieldRange(of: \invivo_context_kind.provided_count),
    ]
}

extension invivo_context_key: SizedStruct {
    public static let fieldRanges: [Range<Int>] = [
        fieldRange(of: \invivo_context_key.struct_size),
        fieldRange(of: \invivo_context_key.name),
        fieldRange(of: \invivo_context_key.kind),
        fieldRange(of: \invivo_context_key.reserved),
        fieldRange(of: \invivo_context_key.type_name),
        fieldRange(of: \invivo_context_key.initial),
    ]
}

extension invivo_context_options: SizedStruct {
    public static let fieldRanges: [Range<Int>] = [
        fieldRange(of: \invivo_context_options.struct_size),
        fieldRange(of: \invivo_context_options.kind),
        fieldRange(of: \invivo_context_options.parent),
        fieldRange(of: \invivo_context_options.flags),
        fieldRange(of: \invivo_context_options.reserved),
        fieldRange(of: \invivo_context_options.values),
        fieldRange(of: \invivo_context_options.value_count),
        fieldRange(of: \invivo_context_options.object),
        fieldRange(of: \invivo_context_options.place),
    ]
}

extension invivo_context_ending: SizedStruct {
    public static let fieldRanges: [Range<Int>] = [
        fieldRange(of: \invivo_context_ending.struct_size),
        fieldRange(of: \invivo_context_ending.timeout_ms),
        fieldRange(of: \invivo_context_ending.flags),
        fieldRange(of: \invivo_context_ending.failure),
        fieldRange(of: \invivo_context_ending.reserved),
        fieldRange(of: \invivo_context_ending.failure_message),
    ]
}

extension invivo_context_observer: SizedStruct {
    public static let fieldRanges: [Range<Int>] = [
        fieldRange(of: \invivo_context_observer.struct_size),
        fieldRange(of: \invivo_context_observer.changed),
        fieldRange(of: \invivo_context_observer.user_data),
        fieldRange(of: \invivo_context_observer.destroy),
        fieldRange(of: \invivo_context_observer.domain),
    ]
}

extension invivo_context_query: SizedStruct {
    public static let fieldRanges: [Range<Int>] = [
        fieldRange(of: \invivo_context_query.struct_size),
        fieldRange(of: \invivo_context_query.kind),
        fieldRange(of: \invivo_context_query.type),
        fieldRange(of: \invivo_context_query.flags),
        fieldRange(of: \invivo_context_query.reserved),
    ]
}

extension invivo_rule: SizedStruct {
    public static let fieldRanges: [Range<Int>] = [
        fieldRange(of: \invivo_rule.struct_size),
        fieldRange(of: \invivo_rule.name),
        fieldRange(of: \invivo_rule.inputs),
        fieldRange(of: \invivo_rule.input_count),
        fieldRange(of: \invivo_rule.check),
        fieldRange(of: \invivo_rule.user_data),
        fieldRange(of: \invivo_rule.destroy),
    ]
}

extension invivo_section: SizedStruct {
    public static let fieldRanges: [Range<Int>] = [
        fieldRange(of: \invivo_section.struct_size),
        fieldRange(of: \invivo_section.value),
        fieldRange(of: \invivo_section.variables),
        fieldRange(of: \invivo_section.flags),
        fieldRange(of: \invivo_section.reserved),
    ]
}

extension invivo_settings: SizedStruct {
    public static let fieldRanges: [Range<Int>] = [
        fieldRange(of: \invivo_settings.struct_size),
        fieldRange(of: \invivo_settings.name),
        fieldRange(of: \invivo_settings.path),
        fieldRange(of: \invivo_settings.fields),
        fieldRange(of: \invivo_settings.field_count),
        fieldRange(of: \invivo_settings.size),
        fieldRange(of: \invivo_settings.check),
        fieldRange(of: \invivo_settings.create),
        fieldRange(of: \invivo_settings.release),
        fieldRange(of: \invivo_settings.user_data),
        fieldRange(of: \invivo_settings.destroy),
        fieldRange(of: \invivo_settings.flags),
        fieldRange(of: \invivo_settings.reserved),
        fieldRange(of: \invivo_settings.secrets),
        fieldRange(of: \invivo_settings.secret_count),
        fieldRange(of: \invivo_settings.schema),
        fieldRange(of: \invivo_settings.type),
    ]
}

extension invivo_settings_type: SizedStruct {
    public static let fieldRanges: [Range<Int>] = [
        fieldRange(of: \invivo_settings_type.struct_size),
        fieldRange(of: \invivo_settings_type.name),
        fieldRange(of: \invivo_settings_type.bind),
        fieldRange(of: \invivo_settings_type.user_data),
        fieldRange(of: \invivo_settings_type.destroy),
    ]
}

extension invivo_reversal: SizedStruct {
    public static let fieldRanges: [Range<Int>] = [
        fieldRange(of: \invivo_reversal.struct_size),
        fieldRange(of: \invivo_reversal.revert),
        fieldRange(of: \invivo_reversal.data),
        fieldRange(of: \invivo_reversal.destroy),
        fieldRange(of: \invivo_reversal.flags),
        fieldRange(of: \invivo_reversal.reserved),
    ]
}

extension invivo_trait: SizedStruct {
    public static let fieldRanges: [Range<Int>] = [
        fieldRange(of: \invivo_trait.struct_size),
        fieldRange(of: \invivo_trait.name),
        fieldRange(of: \invivo_trait.text),
        fieldRange(of: \invivo_trait.targets),
        fieldRange(of: \invivo_trait.target_count),
        fieldRange(of: \invivo_trait.fields),
        fieldRange(of: \invivo_trait.field_count),
        fieldRange(of: \invivo_trait.size),
        fieldRange(of: \invivo_trait.check),
        fieldRange(of: \invivo_trait.layers),
        fieldRange(of: \invivo_trait.apply),
        fieldRange(of: \invivo_trait.user_data),
        fieldRange(of: \invivo_trait.destroy),
    ]
}
