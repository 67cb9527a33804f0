# Copies FROM to TO without what only a debugger needs, when FROM is newer, and lays the link LINK, if any, beside it.
if(NOT ${TO} IS_NEWER_THAN ${FROM} OR NOT EXISTS ${TO})
    get_filename_component(directory ${TO} DIRECTORY)
    get_filename_component(name ${TO} NAME)
    file(MAKE_DIRECTORY ${directory})
    # Renamed into place: a running program keeps the file that it has mapped.
    execute_process(COMMAND ${STRIP} --strip-unneeded -o ${TO}.new ${FROM} COMMAND_ERROR_IS_FATAL ANY)
    file(RENAME ${TO}.new ${TO})
    if(LINK)
        file(CREATE_LINK ${name} ${directory}/${LINK} SYMBOLIC)
    endif()
endif()
